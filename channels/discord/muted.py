"""Where the bot may not write: whoever asks for something there is told where they can be."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

import structlog
from discord import Client, PartialMessageable, Thread
from discord.abc import GuildChannel

from channels.discord.client import DiscordClient
from channels.discord.failures import translated
from channels.discord.places import NAME
from channels.discord.rooms import Rooms
from echo_bot.channel import Command, starts_turn
from echo_bot.errors import ChannelError, TargetGone
from echo_bot.events import Address, EventType, InboundEvent
from echo_bot.text.language import N_, _

log = structlog.get_logger(__name__)

_AGAIN_SECONDS = 3600.0
_REMEMBERED = 1000
_UNLOCK = "Manage Threads"
_LOCKED = N_(
    "The thread {place} is locked, so I did nothing: my answer could not appear there. "
    "Unlock it, or ask me elsewhere."
)
_FORBIDDEN = N_(
    "I may not write in {place}, so I did nothing: my answer could not appear there. "
    "Give me the permission {permission} in that channel, or ask me elsewhere."
)


async def unanswerable(client: Client, channel: object, place: str, seconds: float) -> str:
    """Why nothing can be written in this channel and what to do, in words; "" where it can, or nobody knows.

    `place` names the channel. The permissions that the SDK has put together only raise the suspicion: Discord
    itself must refuse the typing sign too. A lock is told by Discord as it is.
    """
    if not isinstance(channel, GuildChannel | Thread):
        return ""
    permission = _suspected(channel)
    if not permission:
        return ""
    if permission == _UNLOCK:
        return _(_LOCKED).format(place=place)
    try:
        async with translated(seconds):
            await client.get_partial_messageable(channel.id).typing()
    except TargetGone:
        return _(_FORBIDDEN).format(place=place, permission=permission)
    except ChannelError as error:
        log.info("discord_permission_not_known", error=str(error))
    return ""


def _suspected(channel: GuildChannel | Thread) -> str:
    """The permission that seems to be missing, by its name in Discord; "" for none."""
    parent, myself = channel.parent if isinstance(channel, Thread) else channel, channel.guild.me
    if not isinstance(parent, GuildChannel) or myself is None:
        return ""
    granted = parent.permissions_for(myself)
    if isinstance(channel, Thread):
        needed = [
            (not channel.locked or granted.manage_threads, _UNLOCK),
            (granted.send_messages_in_threads, "Send Messages in Threads"),
        ]
    else:
        needed = [(granted.send_messages, "Send Messages")]
    return next((name for has, name in ((granted.view_channel, "View Channel"), *needed) if not has), "")


def waits_for_an_answer(event: InboundEvent, commands: Sequence[Command]) -> bool:
    """Whether it was said to the bot and starts work: what `/stop` does, say, needs no answer.

    A channel in which the bot hears everything may be one where it is to say nothing.
    """
    is_meant = event.mentioned or event.reply_to_is_own or event.text.startswith("/")
    return (
        event.is_group
        and event.event_type is EventType.MESSAGE
        and is_meant
        and starts_turn(event.text, commands)
    )


class Explaining:
    """Tells it in the direct chat, once an hour for each person and channel."""

    def __init__(self, rooms: Rooms, account: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._rooms, self._account, self._clock = rooms, account, clock
        self._told: OrderedDict[tuple[str, str], float] = OrderedDict()

    def is_due(self, event: InboundEvent) -> bool:
        """Counts as told from now on."""
        key, now = (event.sender_id, event.thread_id or event.chat_id), self._clock()
        told_at = self._told.get(key)
        if told_at is not None and now - told_at < _AGAIN_SECONDS:
            return False
        self._told[key] = now
        self._told.move_to_end(key)
        while len(self._told) > _REMEMBERED:
            self._told.popitem(last=False)
        return True

    async def tell(self, client: DiscordClient, user_id: str, why: str, seconds: float) -> None:
        """Best effort: a person may take no direct messages either."""

        async def send(room: PartialMessageable) -> object:
            return await room.send(why, suppress_embeds=True)

        try:
            async with translated(seconds):
                await self._rooms.at(client, Address(NAME, user_id, account=self._account), send)
        except ChannelError as error:
            log.info("discord_nobody_told", account=self._account, error=str(error))
