"""What was said while nobody listened: read from the history of the places where the bot talks."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import structlog
from discord import Guild, Message, Object
from discord.abc import Messageable
from discord.utils import snowflake_time, time_snowflake

from channels.discord.client import DiscordClient
from channels.discord.failures import translated
from channels.discord.places import NAME, Where, where
from channels.discord.rooms import Rooms, number
from channels.discord.timing import Timing
from echo_bot.channel import Port
from echo_bot.errors import ChannelError
from echo_bot.events import Address

log = structlog.get_logger(__name__)

T = TypeVar("T")

_KNOWN = 1000
_MOST_MESSAGES = 100
_OLDEST = timedelta(hours=24)
_ENTRIES = 20
_MOST_ELSEWHERE = 20
_MOST_PERSONS = 20
_DIGITS = range(15, 21)
_AT_ONCE = 8
"""How many places are asked about at the same time: a start waits for all of them."""


class Backlog:
    """Remembers per channel the last message that was seen, where the bot has been talked to.

    After a restart this memory is empty. Then the core's transcripts tell it, which know direct chats too:
    Discord itself lists none to bots. In a server it is asked about other channels too, from the last
    message on that was seen anywhere: what was for the bot there was said while it did not listen. So are the
    direct chats with those who are known by name, in which nobody may have written yet.
    """

    def __init__(self, port: Port, account: str, rooms: Rooms, timing: Timing) -> None:
        self._port, self._account, self._rooms, self._timing = port, account, rooms, timing
        self._last_seen: OrderedDict[int, tuple[Where, int]] = OrderedDict()
        self._last_anywhere = 0
        self._lost: dict[int, int] = {}

    def saw(self, place: Where, channel_id: int, message_id: int, *, talks: bool) -> None:
        """A message came by; `talks`: it was for the bot, so the channel is one to catch up with."""
        self._last_anywhere = max(message_id, self._last_anywhere)
        if talks or channel_id in self._last_seen:
            _, before = self._last_seen.get(channel_id, (place, 0))
            self._last_seen[channel_id] = place, max(message_id, before)
            self._last_seen.move_to_end(channel_id)
        while len(self._last_seen) > _KNOWN:
            self._last_seen.popitem(last=False)

    async def missed(self, client: DiscordClient, seconds: float) -> AsyncIterator[tuple[Message, Where]]:
        """What came after the last message that was seen, a hundred a channel and a day back at most."""
        chats = [chat for chat in await self._port.chats(NAME, self._account) if self._is_new(chat)]
        for some_chats in _portions(chats):
            await asyncio.gather(*(self._recall(client, chat, seconds) for chat in some_chats))
        known = list(self._last_seen.items())
        new_places = [
            *self._elsewhere(client.guilds, self._last_anywhere),
            *await self._direct_chats(client, seconds),
        ]
        elsewhere = [each async for each in self._read(client, new_places, seconds)]
        # The oldest first, and all before the rest: where this breaks off, what is left is still newer than
        # all that was seen anywhere.
        for found in sorted(elsewhere, key=lambda each: each[0].id):
            yield found
        async for found in self._read(client, known, seconds):
            yield found

    def lost(self, server: Guild) -> None:
        """What is said there from now on is not told."""
        self._lost.setdefault(server.id, self._last_anywhere)

    def has_lost(self, server: Guild) -> bool:
        return server.id in self._lost

    async def missed_in(
        self, client: DiscordClient, server: Guild, seconds: float
    ) -> AsyncIterator[tuple[Message, Where]]:
        """What was said in a server that is back, since it was lost."""
        since = self._lost.get(server.id, 0)
        here = [each for each in self._last_seen.items() if server.get_channel_or_thread(each[0]) is not None]
        elsewhere = list(self._elsewhere([server], since))
        async for found in self._read(client, [*here, *elsewhere], seconds):
            yield found
        self._lost.pop(server.id, None)

    async def _read(
        self, client: DiscordClient, known: Sequence[tuple[int, tuple[Where, int]]], seconds: float
    ) -> AsyncIterator[tuple[Message, Where]]:
        """What came in these channels after the message that is given with each."""
        for some in _portions(known):
            reads = (self._history(client, channel_id, seen, seconds) for channel_id, (_, seen) in some)
            for (_, (place, _)), messages in zip(some, await asyncio.gather(*reads), strict=True):
                for message in messages:
                    yield message, place

    async def _direct_chats(
        self, client: DiscordClient, seconds: float
    ) -> Sequence[tuple[int, tuple[Where, int]]]:
        """Those with persons known by name, in which the bot was never talked to."""
        if not self._last_anywhere:
            return ()
        persons = [each for each in await self._port.persons(NAME, self._account) if each.isdecimal()]
        found = []
        for some in _portions(persons[:_MOST_PERSONS]):
            found += await asyncio.gather(*(self._direct_chat(client, each, seconds) for each in some))
        return [
            (channel_id, (Where(str(channel_id), is_group=False), self._last_anywhere))
            for channel_id in found
            if channel_id and channel_id not in self._last_seen
        ]

    async def _direct_chat(self, client: DiscordClient, person: str, seconds: float) -> int:
        """0 where there is none, as with somebody who shares no server with the bot."""
        try:
            async with translated(seconds):
                return await self._rooms.of(client, number(person))
        except ChannelError as error:
            log.info("discord_chat_not_found", account=self._account, error=str(error))
            return 0

    def _elsewhere(self, servers: Sequence[Guild], since: int) -> Iterator[tuple[int, tuple[Where, int]]]:
        """Where the bot was never talked to and something was said `since`, the newest first."""
        if not since:
            return
        told = [
            (getattr(channel, "last_message_id", None) or 0, channel)
            for server in servers
            for channel in (*server.channels, *server.threads)
            if isinstance(channel, Messageable) and channel.id not in self._last_seen
        ]
        told = [each for each in told if each[0] > since]
        for _, channel in sorted(told, key=lambda each: each[0], reverse=True)[:_MOST_ELSEWHERE]:
            place = where(channel)
            if place is not None:
                yield channel.id, (place, since)

    def _is_new(self, chat: Address) -> bool:
        channel_id = chat.thread_id or chat.chat_id
        return not (channel_id.isdecimal() and int(channel_id) in self._last_seen)

    async def _recall(self, client: DiscordClient, chat: Address, seconds: float) -> None:
        """Learn from the transcript what was seen last in a chat of before the restart.

        What kind of place it is says Discord: in a server not every message is meant for the bot.
        """
        try:
            async with translated(seconds):
                channel_id = number(chat.thread_id or chat.chat_id)
                channel = client.get_channel(channel_id) or await client.fetch_channel(channel_id)
        except ChannelError as error:
            log.info("discord_chat_not_found", account=self._account, error=str(error))
            return
        place, seen = where(channel), await self._last_in_transcript(chat)
        newest = getattr(channel, "last_message_id", None)
        self._last_anywhere = max(seen, self._last_anywhere)
        if place is None or (newest is not None and newest <= max(seen, self._oldest())):
            return
        self.saw(place, channel_id, seen, talks=True)

    async def _last_in_transcript(self, chat: Address) -> int:
        """Where nothing is known of the clocks, it also tells how far they are apart."""
        entries = await self._port.transcript(chat, _ENTRIES)
        ids = {
            int(entry.entry_id): entry.at
            for entry in entries
            if entry.role == "user" and entry.entry_id.isdecimal() and len(entry.entry_id) in _DIGITS
        }
        if not self._timing.is_known:
            for message_id, noted_at in ids.items():
                self._timing.learn(snowflake_time(message_id), noted_at)
        return max(ids, default=0)

    def _oldest(self) -> int:
        """What was said before this id is not looked at."""
        return time_snowflake(self._timing.there(datetime.now(UTC)) - _OLDEST)

    async def _history(
        self, client: DiscordClient, channel_id: int, after: int, seconds: float
    ) -> list[Message]:
        """The newest hundred, oldest first; nothing where they cannot be read."""
        since = Object(max(after, self._oldest()))
        known = client.get_channel(channel_id)
        channel = known if isinstance(known, Messageable) else client.get_partial_messageable(channel_id)
        try:
            async with translated(seconds):
                newest = channel.history(limit=_MOST_MESSAGES, after=since, oldest_first=False)
                return sorted([one async for one in newest], key=lambda one: one.id)
        except ChannelError as error:
            log.warning("discord_history_not_read", account=self._account, error=str(error))
            return []


def _portions(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))


async def wait_until_ready(client: DiscordClient, seconds: float) -> None:
    """Let the servers and their channels become known, which comes after the connection."""
    try:
        async with asyncio.timeout(seconds):
            await client.wait_until_ready()
    except TimeoutError:
        log.info("discord_servers_not_complete")
