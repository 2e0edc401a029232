"""The connection to Discord: one task keeps it up, with a fresh client where the SDK gives up."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from discord.gateway import KeepAliveHandler
from discord.http import Route

from channels.discord.client import DiscordClient
from channels.discord.endpoints import Endpoints, use_gateway
from channels.discord.failures import failure_of, translated
from echo_bot.channel import ChannelHealth, ChannelState
from echo_bot.errors import ChannelError, ChannelFatal, TemporaryFailure

log = structlog.get_logger(__name__)

_RESUMABLE_CLOSE, _FINAL_CLOSE = 4000, 1000
_BEATS_MISSED = 2.5


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How long to wait, in seconds."""

    start: float = 10.0
    """For the first try, before the start goes on without it."""
    first_retry: float = 1.0
    longest_retry: float = 30.0
    call: float = 10.0
    upload: float = 120.0
    watch: float = 5.0
    rebuild: float = 60.0
    """For the SDK to come back by itself, before a fresh client takes its place."""
    guild_ready: float = 0.5
    """Without a further server, before the list of servers counts as complete."""
    ready: float = 3.0
    """For that list, before what was missed is read without it."""
    close: float = 1.0
    modal: float = 2.0
    """For the core to say what a modal asks: Discord waits 3 seconds for it to open."""


class Connection:
    """Logs in, connects and watches, from `open` to `close`. `make_client` gives a fresh client each time."""

    def __init__(
        self,
        make_client: Callable[[], DiscordClient],
        token: str,
        endpoints: Endpoints,
        account: str,
        rhythm: Rhythm,
    ) -> None:
        self._make_client, self._token, self._endpoints = make_client, token, endpoints
        self._account, self._rhythm = account, rhythm
        self._client: DiscordClient | None = None
        self._task: asyncio.Task[None] | None = None
        self._first: asyncio.Future[None] | None = None
        self._is_up = asyncio.Event()
        self._down_since = time.monotonic()
        self._delay = rhythm.first_retry
        self._state, self._error = ChannelState.STARTING, ""
        self._again_at: datetime | None = None
        self.last_event_at: datetime | None = None

    @property
    def client(self) -> DiscordClient:
        """The client of now. Raises TemporaryFailure between two of them."""
        if self._client is None or self._client.user is None:
            raise TemporaryFailure(self._error or "Discord is not connected yet")
        return self._client

    def health(self) -> ChannelHealth:
        if self._task is not None and self._task.done() and self._state is not ChannelState.FAILED:
            return ChannelHealth(ChannelState.FAILED, error="The connection has ended unexpectedly")
        return ChannelHealth(self._state, self.last_event_at, self._error, self._again_at)

    async def open(self) -> None:
        """Connect. Returns also while the first try is under way or failed; raises ChannelFatal."""
        first = self._first = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(), name=f"discord:{self._account}:connection")
        await asyncio.wait({first}, timeout=self._rhythm.start)
        self._first = None
        if first.done():
            first.result()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    @property
    def is_up(self) -> bool:
        """Not so while Discord tells again what happened during a break."""
        return self._is_up.is_set()

    # What the client tells

    def up(self) -> None:
        log.info("discord_connected", account=self._account)
        self._is_up.set()
        self._delay = self._rhythm.first_retry
        self._state, self._error, self._again_at = ChannelState.CONNECTED, "", None
        self._settle_first()

    def down(self) -> None:
        if self._is_up.is_set():
            self._is_up.clear()
            self._down_since = time.monotonic()
            self._state, self._error = ChannelState.RETRYING, "The connection to Discord broke"

    # Inside

    async def _run(self) -> None:
        while True:
            try:
                await self._live()
                failure: ChannelError = TemporaryFailure("Discord ended the connection")
            except Exception as error:  # noqa: BLE001 a fault in the SDK's parser ends its loop; ours goes on
                failure = failure_of(error)
            if isinstance(failure, ChannelFatal):
                log.error("discord_failed", account=self._account, error=str(failure))
                self._state, self._error, self._again_at = ChannelState.FAILED, str(failure), None
                self._settle_first(failure)
                return
            await self._pause(failure)

    async def _pause(self, failure: ChannelError) -> None:
        pause, self._delay = self._delay, min(self._delay * 2, self._rhythm.longest_retry)
        self._state, self._error = ChannelState.RETRYING, str(failure)
        self._again_at = datetime.now(UTC) + timedelta(seconds=pause)
        log.warning("discord_connection_failed", account=self._account, error=self._error, pause=pause)
        self._settle_first()
        await asyncio.sleep(pause)

    async def _live(self) -> None:
        """One client's life. Returns or raises when it ended."""
        self._is_up.clear()
        self._down_since = time.monotonic()
        client = self._client = self._make_client()
        session: asyncio.Task[None] | None = None
        try:
            async with translated(self._rhythm.call):
                await client.login(self._token)
                await self._find_gateway(client)
            name = f"discord:{self._account}:session"
            session = asyncio.create_task(client.connect(reconnect=True), name=name)
            while not session.done():
                await asyncio.wait({session}, timeout=self._rhythm.watch)
                if not session.done():
                    await self._look_after(client)
            session.result()
        finally:
            self._client = None
            if session is not None:
                await self._end(client, session)
            else:
                await self._dispose(client)

    async def _find_gateway(self, client: DiscordClient) -> None:
        """Ask a server of one's own where its gateway is; Discord's own must not be dialled for it."""
        if self._endpoints.gateway:
            return
        answer = await client.http.request(Route("GET", "/gateway"))
        url = answer.get("url") if isinstance(answer, dict) else None
        if not url:
            raise ChannelFatal("The server of api_base names no gateway", "Set channels.discord.gateway_url")
        use_gateway(str(url).rstrip("/"))

    async def _look_after(self, client: DiscordClient) -> None:
        """Reconnect a line whose heartbeats are not answered; give up one that does not come back.

        The SDK's own retries begin at its second connection: its first one fails for good.
        """
        if not self._is_up.is_set():
            patience = self._rhythm.rebuild if client.ws is not None else self._rhythm.call
            if time.monotonic() - self._down_since > patience:
                raise TemporaryFailure("Discord's gateway could not be reached")
            return
        silence, allowed = _silence(client)
        if silence > allowed:
            log.warning("discord_heartbeat_unanswered", account=self._account, seconds=round(silence))
            self.down()
            self._error = f"Discord has not answered a heartbeat for {silence:.0f} s"
            await client.ws.close(_RESUMABLE_CLOSE)

    async def _end(self, client: DiscordClient, session: asyncio.Task[None]) -> None:
        await self._dispose(client)
        session.cancel()
        await asyncio.wait({session})
        if not session.cancelled():
            session.exception()

    async def _dispose(self, client: DiscordClient) -> None:
        """Close the client, within a second also when Discord hangs, and end the task it leaves behind."""
        ready_task = getattr(client._connection, "_ready_task", None)
        if ready_task is not None:
            ready_task.cancel()
        try:
            async with asyncio.timeout(self._rhythm.close):
                await _close_lines(client)
                await client.close()
        except Exception as error:  # noqa: BLE001 what cannot be closed is left to the session's end
            log.info("discord_not_closed_cleanly", account=self._account, error=type(error).__name__)
            await client.http.close()

    def _settle_first(self, failure: ChannelFatal | None = None) -> None:
        if self._first is None or self._first.done():
            return
        if failure is not None:
            self._first.set_exception(failure)
        else:
            self._first.set_result(None)


def _silence(client: DiscordClient) -> tuple[float, float]:
    """Seconds since the last answered heartbeat, and how many are allowed. The SDK shows neither."""
    beat = getattr(client.ws, "_keep_alive", None)
    if beat is None or not beat.interval:
        return 0.0, 1.0
    return time.perf_counter() - beat._last_ack, _BEATS_MISSED * beat.interval


async def _close_lines(client: DiscordClient) -> None:
    """Close every line of this client, with its heartbeat's thread.

    The SDK closes only the last one, and not if the other side closed it or if it was still being opened.
    """
    for thread in threading.enumerate():
        if isinstance(thread, KeepAliveHandler) and thread.ws._connection is client._connection:
            thread.stop()
            await thread.ws.socket.close(code=_FINAL_CLOSE)
