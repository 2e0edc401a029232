"""Which channels run: looked up by name and account, filled by the app as they start."""

from __future__ import annotations

from collections.abc import Iterator

from echo_bot.channel import Channel, ChannelState
from echo_bot.events import Address


class ChannelBook:
    """The running channels. A channel that is not in it cannot be sent to right now.

    It also knows what their platforms refuse to take until a person changes something, for `status`.
    """

    def __init__(self) -> None:
        self._channels: dict[tuple[str, str], Channel] = {}
        self._refused: dict[tuple[str, str, str], str] = {}

    def add(self, channel: Channel) -> None:
        self._channels[channel.name, channel.account] = channel

    def remove(self, channel: Channel) -> None:
        self._channels.pop((channel.name, channel.account), None)

    def get(self, address: Address) -> Channel | None:
        return self._channels.get((address.channel, address.account))

    def started(self, address: Address) -> Channel | None:
        """The channel, unless it did not start yet or was stopped: then it takes nothing."""
        channel = self.get(address)
        return channel if channel and channel.health().state is not ChannelState.STOPPED else None

    def refused(self, channel: Channel, kind: str, why: str) -> None:
        """The platform takes nothing of this kind (a text, a card, a file): `why` names the fix."""
        self._refused[channel.name, channel.account, kind] = why

    def taken(self, channel: Channel, kind: str) -> None:
        self._refused.pop((channel.name, channel.account, kind), None)

    def refusal(self, channel: Channel) -> str:
        """Why something could not be sent there when it was last tried; "" when all of it could."""
        name, account = channel.name, channel.account
        reasons = (why for (n, a, _), why in self._refused.items() if (n, a) == (name, account))
        return " ".join(dict.fromkeys(reasons))

    def __iter__(self) -> Iterator[Channel]:
        return iter(tuple(self._channels.values()))
