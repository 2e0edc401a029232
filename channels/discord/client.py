"""The SDK's client from our settings: what it asks for, what it keeps, and whom it tells of events."""

from __future__ import annotations

import asyncio
import sys
from typing import Any, Protocol

import discord
import structlog
from discord import AllowedMentions, Intents, MemberCacheFlags
from discord.abc import GuildChannel

from channels.discord.tolerance import make_tolerant
from echo_bot.channel import ChannelSettings
from echo_bot.errors import ChannelFatal

log = structlog.get_logger(__name__)

LONGEST_RATE_WAIT_SECONDS = 3.0
"""Longer waits for a rate limit are the core's: the SDK raises instead of sleeping."""

_PROXY_FIX = "Write channels.discord.proxy as http://host:port"

INTENTS = Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)


class Listener(Protocol):
    """Told of what happens, in order. Nothing here waits."""

    def connected(self) -> None:
        """A new session: whatever happened between the last one and this is not delivered."""
        ...

    def resumed(self) -> None: ...

    def disconnected(self) -> None: ...

    def lost(self, server: discord.Guild) -> None:
        """Discord has an outage there, and tells nothing of it."""
        ...

    def returned(self, server: discord.Guild) -> None: ...

    def message(self, message: discord.Message) -> None: ...

    def edited(self, message: discord.Message) -> None: ...

    def deleted(self, channel_id: int, message_id: int) -> None: ...

    def interaction(self, interaction: discord.Interaction[Any]) -> None: ...


class DiscordClient(discord.Client):
    """Keeps servers and channels in its cache, but neither members nor messages."""

    def __init__(self, settings: ChannelSettings, listener: Listener, guild_ready_seconds: float) -> None:
        # It would warn at every start that voice, which nobody asked for, lacks its packages.
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
        super().__init__(
            intents=INTENTS,
            proxy=_proxy(settings.proxy),
            max_messages=None,
            member_cache_flags=MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            guild_ready_timeout=guild_ready_seconds,
            allowed_mentions=AllowedMentions.none(),
        )
        # As an option of the client it would be at least 30 s.
        self.http.max_ratelimit_timeout = LONGEST_RATE_WAIT_SECONDS
        self._listener = listener
        make_tolerant(self._connection.parsers, self._server_of)

    def _server_of(self, channel_id: int) -> int | None:
        channel = self.get_channel(channel_id)
        return channel.guild.id if isinstance(channel, GuildChannel | discord.Thread) else None

    async def setup_hook(self) -> None:
        self.http._global_over = PassingLimit()

    async def on_connect(self) -> None:
        self._listener.connected()

    async def on_resumed(self) -> None:
        self._listener.resumed()

    async def on_disconnect(self) -> None:
        self._listener.disconnected()

    async def on_guild_unavailable(self, guild: discord.Guild) -> None:
        self._listener.lost(guild)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        self._listener.returned(guild)

    async def on_message(self, message: discord.Message) -> None:
        self._listener.message(message)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        self._listener.edited(payload.message)

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        self._listener.deleted(payload.channel_id, payload.message_id)

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        for message_id in sorted(payload.message_ids):
            self._listener.deleted(payload.channel_id, message_id)

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        self._listener.interaction(interaction)

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        # Without its traceback, which may hold what people wrote.
        log.error("discord_event_failed", event_name=event_method, error=type(sys.exception()).__name__)


class PassingLimit(asyncio.Event):
    """Set unless all calls wait for a limit. It passes also when the call that met it is given up meanwhile.

    The SDK would leave every later call waiting for ever.
    """

    def __init__(self) -> None:
        super().__init__()
        self._passes: asyncio.TimerHandle | None = None
        self.set()

    def set(self) -> None:
        self._end_timer()
        super().set()

    def clear(self) -> None:
        self._end_timer()
        super().clear()
        self._passes = asyncio.get_running_loop().call_later(LONGEST_RATE_WAIT_SECONDS, self.set)

    def _end_timer(self) -> None:
        """That of one limit would let a later one pass too early."""
        if self._passes is not None:
            self._passes.cancel()


def _proxy(proxy: str) -> str | None:
    """Raises ChannelFatal for a proxy that the SDK's HTTP client cannot use."""
    if proxy and not proxy.startswith(("http://", "https://")):
        raise ChannelFatal("The proxy of Discord is not an HTTP address", _PROXY_FIX)
    return proxy or None
