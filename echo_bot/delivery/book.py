"""Which channels run: looked up by name and account, filled by the app as they start."""

from __future__ import annotations

from collections.abc import Iterator

from echo_bot.channel import Channel
from echo_bot.events import Address


class ChannelBook:
    """The running channels. A channel that is not in it cannot be sent to right now."""

    def __init__(self) -> None:
        self._channels: dict[tuple[str, str], Channel] = {}

    def add(self, channel: Channel) -> None:
        self._channels[channel.name, channel.account] = channel

    def remove(self, channel: Channel) -> None:
        self._channels.pop((channel.name, channel.account), None)

    def get(self, address: Address) -> Channel | None:
        return self._channels.get((address.channel, address.account))

    def __iter__(self) -> Iterator[Channel]:
        return iter(tuple(self._channels.values()))
