"""The connection kept up: who are we, connect, wait for its end, connect anew, with growing pauses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

import structlog

from channels.slack.failures import SDK_ERRORS, Clean, app_token_refused, error_code, failure_of
from echo_bot.channel import ChannelHealth, ChannelState
from echo_bot.errors import ChannelError, ChannelFatal, RetryAfter

log = structlog.get_logger(__name__)

_GROWTH = 2.0


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How long to wait, in seconds: between looks, pings and tries."""

    look: float = 1.0
    ping: float = 10.0
    first_retry: float = 1.0
    longest_retry: float = 30.0
    greeting: float = 10.0
    """Until Slack must have said who the bot is."""
    fatal_retry: float = 60.0
    """A token that is refused while running: a person must act, but a server's mistake may pass by itself."""
    last_answers: float = 2.0
    """For what an old connection still has in hand, once a new one stands."""
    steady: float = 30.0
    """A connection that lived this long was a good one: the pauses start small again."""


class Connection(Protocol):
    @property
    def problem(self) -> str:
        """What a person must see to before another connection can last; "" where there is nothing."""
        ...

    @property
    def has_delivered(self) -> bool:
        """Did anything come through it? Then it was a good one, however short it lived."""
        ...

    async def connect(self) -> None: ...

    async def ended(self, look_seconds: float) -> bool:
        """Returns when it is lost, or about to be: true where Slack asked to connect anew."""
        ...

    async def close(self, patience_seconds: float = 0.3) -> None: ...


class Line:
    """`greet` asks who we are; `dial` makes a connection that is not open yet, None where Slack calls us."""

    def __init__(
        self,
        greet: Callable[[], Awaitable[None]],
        dial: Callable[[], Connection] | None,
        account: str,
        clean: Clean,
        rhythm: Rhythm,
    ) -> None:
        self._greet, self._dial = greet, dial
        self._account, self._clean, self._rhythm = account, clean, rhythm
        self._greeted = False
        self._connection: Connection | None = None
        self._retiring: Connection | None = None
        self._pause, self._delay = 0.0, rhythm.first_retry
        self._state, self._error = ChannelState.STARTING, ""
        self._again_at: datetime | None = None
        self._since = 0.0

    async def connect(self) -> None:
        """Try once. Raises ChannelFatal; anything else is left to `run`."""
        failure = await self._try()
        if isinstance(failure, ChannelFatal):
            raise failure

    async def run(self) -> None:
        """Stay connected for ever."""
        while True:
            if self._state is ChannelState.CONNECTED:
                await self._until_it_ends()
            await asyncio.sleep(self._pause)
            await self._try()

    async def close(self) -> None:
        connections = (self._connection, self._retiring)
        self._connection = self._retiring = None
        for connection in connections:
            if connection is not None:
                await connection.close()

    def health(self, last_event_at: datetime | None) -> ChannelHealth:
        return ChannelHealth(self._state, last_event_at, self._error, self._again_at)

    async def _until_it_ends(self) -> None:
        if self._connection is None:
            await asyncio.Event().wait()
            return
        connection = self._connection
        asked = await connection.ended(self._rhythm.look)
        self._state, self._error = ChannelState.RETRYING, connection.problem
        is_old = asyncio.get_running_loop().time() - self._since >= self._rhythm.steady
        if is_old or connection.has_delivered:
            self._delay = self._rhythm.first_retry
        if is_old or (asked and connection.has_delivered):
            self._pause = 0.0
        else:
            # Lost soon after it was made: without a pause a server that is unwell would be hammered.
            self._pause, self._delay = self._delay, self._longer()
        log.info("slack_connection_ended", account=self._account, pause=self._pause)

    async def _try(self) -> ChannelError | None:
        """Greet if that is still to do, and connect; the old connection closes once the new one stands."""
        connection: Connection | None = None
        try:
            if not self._greeted:
                await self._greet()
                self._greeted = True
            if self._dial is not None:
                connection = self._dial()
                await connection.connect()
        except (*SDK_ERRORS, ChannelError) as error:
            if connection is not None:
                await connection.close()
            failure = self._failure(error, dialling=connection is not None)
            self._note(failure)
            return failure
        except BaseException:
            if connection is not None:
                await connection.close()
            raise
        self._retiring, self._connection = self._connection, connection
        self._succeeded()
        if self._retiring is not None:
            await self._retiring.close(self._rhythm.last_answers)
            self._retiring = None
        return None

    def _failure(self, error: Exception, *, dialling: bool) -> ChannelError:
        failure = error if isinstance(error, ChannelError) else failure_of(error, self._clean)
        if dialling and isinstance(failure, ChannelFatal):
            return app_token_refused(error_code(error))
        return failure

    def _succeeded(self) -> None:
        self._since = asyncio.get_running_loop().time()
        self._pause = 0.0
        if self._dial is None:
            self._delay = self._rhythm.first_retry
        self._state, self._error, self._again_at = ChannelState.CONNECTED, "", None
        log.info("slack_connected", account=self._account)

    def _note(self, failure: ChannelError) -> None:
        match failure:
            case RetryAfter():
                self._pause = failure.seconds
            case ChannelFatal():
                self._pause = self._rhythm.fatal_retry
            case _:
                self._pause, self._delay = self._delay, self._longer()
        fatal = isinstance(failure, ChannelFatal)
        self._state, self._error = ChannelState.FAILED if fatal else ChannelState.RETRYING, str(failure)
        self._again_at = datetime.now(UTC) + timedelta(seconds=self._pause)
        log.warning("slack_not_connected", account=self._account, error=self._error, pause=self._pause)

    def _longer(self) -> float:
        return min(self._delay * _GROWTH, self._rhythm.longest_retry)
