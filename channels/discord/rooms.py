"""Where to send: a channel by its id, or a person by theirs, for whom the direct chat is opened."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TypeVar

from discord import HTTPException, NotFound, PartialMessageable

from channels.discord.client import DiscordClient
from channels.discord.failures import UNKNOWN_CHANNEL
from channels.discord.places import NAME
from echo_bot.errors import TargetGone
from echo_bot.events import Address

T = TypeVar("T")

_KNOWN = 2000


class Rooms:
    """Knows the direct chats that were seen or opened: a person's id costs one call, the first time."""

    def __init__(self) -> None:
        self._direct: OrderedDict[int, int] = OrderedDict()

    def saw(self, user_id: int, channel_id: int) -> None:
        self._direct[user_id] = channel_id
        self._direct.move_to_end(user_id)
        while len(self._direct) > _KNOWN:
            self._direct.popitem(last=False)

    async def of(self, client: DiscordClient, user_id: int) -> int:
        """The id of the direct chat with a person. Opening it shows them nothing. Raises the SDK's errors."""
        known = self._direct.get(user_id)
        if known is not None:
            return known
        channel = await client.http.start_private_message(user_id)
        self.saw(user_id, int(channel["id"]))
        return int(channel["id"])

    async def at(
        self, client: DiscordClient, address: Address, call: Callable[[PartialMessageable], Awaitable[T]]
    ) -> tuple[Address, T]:
        """Do `call` in the channel of `address`; returns the address under the channel's own id too."""
        if address.thread_id:
            return address, await call(client.get_partial_messageable(number(address.thread_id)))
        wanted = number(address.chat_id)
        channel_id = self._direct.get(wanted, wanted)
        try:
            done = await call(client.get_partial_messageable(channel_id))
        except NotFound as error:
            if error.code != UNKNOWN_CHANNEL or channel_id != wanted:
                raise
            channel_id = await self._open(client, wanted, error)
            done = await call(client.get_partial_messageable(channel_id))
        return Address(NAME, str(channel_id), account=address.account), done

    async def _open(self, client: DiscordClient, user_id: int, unknown_channel: NotFound) -> int:
        """The direct chat with a person; where there is no such person either, the channel was meant."""
        try:
            return await self.of(client, user_id)
        except HTTPException as error:
            raise (unknown_channel if error.status in (400, 404) else error) from None


def number(written: str) -> int:
    """An id as Discord counts them. Raises TargetGone for a name or a stored id of another kind."""
    if not (written.isascii() and written.isdecimal()):
        raise TargetGone(f"{written!r} is not a Discord id: write the number, not a name")
    return int(written)
