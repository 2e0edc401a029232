"""What was said while nobody listened: read from the history of the places where the bot talks."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import structlog
from discord import Message, Object, TextChannel, Thread
from discord.abc import Messageable
from discord.utils import snowflake_time, time_snowflake

from channels.discord.client import DiscordClient
from channels.discord.failures import translated
from channels.discord.places import NAME, Where, where
from echo_bot.channel import Port
from echo_bot.errors import ChannelError
from echo_bot.events import Address

log = structlog.get_logger(__name__)

_KNOWN = 1000
_MOST_MESSAGES = 100
_OLDEST = timedelta(hours=24)
_ENTRIES = 20
_DIGITS = range(15, 21)


class Backlog:
    """Remembers per channel the last message that was seen, where the bot has been talked to.

    After a restart this memory is empty: then the core's transcript tells it for the channels and active
    threads of servers. Discord lists no direct chats, so these are known again with their first message.
    """

    def __init__(self, port: Port, account: str) -> None:
        self._port, self._account = port, account
        self._last_seen: OrderedDict[int, tuple[Where, int]] = OrderedDict()

    def saw(self, place: Where, channel_id: int, message_id: int, *, talks: bool) -> None:
        """A message came by; `talks`: it was for the bot, so the channel is one to catch up with."""
        if talks or channel_id in self._last_seen:
            _, before = self._last_seen.get(channel_id, (place, 0))
            self._last_seen[channel_id] = place, max(message_id, before)
            self._last_seen.move_to_end(channel_id)
        while len(self._last_seen) > _KNOWN:
            self._last_seen.popitem(last=False)

    async def missed(self, client: DiscordClient, seconds: float) -> AsyncIterator[tuple[Message, Where]]:
        """What came after the last message that was seen, a hundred a channel and a day back at most."""
        await self._recall(client)
        for channel_id, (place, message_id) in list(self._last_seen.items()):
            try:
                async with translated(seconds):
                    messages = await _history(client, channel_id, message_id)
            except ChannelError as error:
                log.warning("discord_history_not_read", account=self._account, error=str(error))
                continue
            for message in messages:
                yield message, place

    async def _recall(self, client: DiscordClient) -> None:
        """Find out from the transcript where the bot talked before it was restarted."""
        oldest = datetime.now(UTC) - _OLDEST
        for guild in client.guilds:
            channels: list[TextChannel | Thread] = [*guild.text_channels, *guild.threads]
            for channel in channels:
                place, newest = where(channel), channel.last_message_id
                if place is None or newest is None or channel.id in self._last_seen:
                    continue
                if snowflake_time(newest) < oldest:
                    continue
                seen = await self._last_in_transcript(place)
                if seen:
                    self.saw(place, channel.id, seen, talks=True)

    async def _last_in_transcript(self, place: Where) -> int:
        address = Address(NAME, place.chat_id, place.thread_id, self._account)
        entries = await self._port.transcript(address, _ENTRIES)
        ids = (entry.entry_id for entry in entries if entry.role == "user")
        return max((int(each) for each in ids if each.isdecimal() and len(each) in _DIGITS), default=0)


async def _history(client: DiscordClient, channel_id: int, after: int) -> list[Message]:
    """The newest hundred, oldest first."""
    since = Object(max(after, time_snowflake(datetime.now(UTC) - _OLDEST)))
    known = client.get_channel(channel_id)
    channel = known if isinstance(known, Messageable) else client.get_partial_messageable(channel_id)
    found = [one async for one in channel.history(limit=_MOST_MESSAGES, after=since, oldest_first=False)]
    return sorted(found, key=lambda one: one.id)


async def wait_until_ready(client: DiscordClient, seconds: float) -> None:
    """Let the servers and their channels become known, which comes after the connection."""
    try:
        async with asyncio.timeout(seconds):
            await client.wait_until_ready()
    except TimeoutError:
        log.info("discord_servers_not_complete")
