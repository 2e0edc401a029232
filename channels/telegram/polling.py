"""Long polling: an update is confirmed once it is stored, and every failure ends in another try."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from telegram import Update
from telegram.error import Conflict, TelegramError

from channels.telegram.client import TelegramBot
from channels.telegram.failures import failure_of
from channels.telegram.inbound import MESSAGE_KINDS
from echo_bot.channel import ChannelHealth, ChannelState
from echo_bot.errors import ChannelError, ChannelFatal, EchoBotError, RetryAfter, TemporaryFailure

log = structlog.get_logger(__name__)

ALLOWED_UPDATES = (*MESSAGE_KINDS, "callback_query")
_GROWTH = 1.5
_SLACK_SECONDS = 0.5
_TRIES_PER_UPDATE = 5
_OTHER_POLLER = (
    "Telegram answers that another program receives this bot's messages. "
    "Stop the other one, or give this one its own bot"
)


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How long to wait, in seconds, for updates and after failures."""

    poll: int = 10
    first_retry: float = 1.0
    longest_retry: float = 30.0
    fatal_retry: float = 60.0
    """A token that is refused while running: a person must act, but a proxy's 404 may pass by itself."""
    last_word: float = 0.7


class Poller:
    """Asks for updates and hands each to `take`, which returns once it is stored and raises if it was not.

    `greeted` is called whenever Telegram was reached anew.
    """

    def __init__(
        self,
        bot: TelegramBot,
        take: Callable[[Update], Awaitable[None]],
        greeted: Callable[[], None],
        account: str,
        rhythm: Rhythm,
    ) -> None:
        self._bot, self._take, self._on_greeted = bot, take, greeted
        self._account, self._rhythm = account, rhythm
        self._offset = self._confirmed = 0
        self._greeted = self._caught_up = self._contested = False
        self._delay, self._pause = rhythm.first_retry, 0.0
        self._stuck_on, self._stuck_times = 0, 0
        self._storing = asyncio.Lock()
        self._state, self._error = ChannelState.STARTING, ""
        self._again_at: datetime | None = None
        self._last_event_at: datetime | None = None

    @property
    def health(self) -> ChannelHealth:
        return ChannelHealth(self._state, self._last_event_at, self._error, self._again_at)

    async def connect(self) -> None:
        """Try once to get in touch. Raises ChannelFatal; anything else is left to `run`."""
        try:
            await self._greet()
        except TelegramError as error:
            failure = failure_of(error, self._bot.token)
            self._note(failure)
            if isinstance(failure, ChannelFatal):
                raise failure from None

    async def run(self) -> None:
        """Receive for ever."""
        while True:
            await asyncio.sleep(self._pause)
            try:
                await self._turn()
            except Conflict as error:
                self._contested = True
                self._greeted = "webhook" not in error.message
                self._note(TemporaryFailure(_OTHER_POLLER))
            except TelegramError as error:
                self._note(failure_of(error, self._bot.token))
            except EchoBotError as error:
                self._note(TemporaryFailure(f"A message could not be stored: {error}"))
            except Exception as error:  # noqa: BLE001 the loop outlives any fault in the SDK or the core
                self._note(TemporaryFailure(f"An update could not be handled: {type(error).__name__}"))

    async def finish_storing(self) -> None:
        """Wait, if only for a moment, until the update that is being stored is done; take no further one."""
        try:
            async with asyncio.timeout(self._rhythm.last_word):
                await self._storing.acquire()
        except TimeoutError:
            log.info("telegram_stopped_while_storing", account=self._account)

    async def last_word(self) -> None:
        """Confirm what is stored, so that it does not come again after a restart. Best effort."""
        if self._offset == self._confirmed:
            return
        try:
            async with asyncio.timeout(self._rhythm.last_word):
                await self._bot.get_updates(offset=self._offset, timeout=0, allowed_updates=ALLOWED_UPDATES)
        except (TelegramError, TimeoutError):
            log.info("telegram_offset_not_confirmed", account=self._account)

    async def _turn(self) -> None:
        if not self._greeted:
            await self._greet()
        if not self._caught_up:
            await self._fetch(timeout_seconds=0)
            self._caught_up = True
        await self._fetch(timeout_seconds=self._rhythm.poll)

    async def _greet(self) -> None:
        """Learn who we are and end any webhook, beside which Telegram allows no polling."""
        await self._bot.initialize()
        await self._bot.delete_webhook()
        self._greeted = True
        self._succeeded(proven=False)
        self._on_greeted()

    async def _fetch(self, timeout_seconds: int) -> None:
        updates = await self._bot.get_updates(
            offset=self._offset, timeout=timeout_seconds, allowed_updates=ALLOWED_UPDATES
        )
        self._confirmed = self._offset
        self._succeeded(proven=timeout_seconds > 0)
        for update in updates:
            await self._store(update)
            self._offset = update.update_id + 1

    async def _store(self, update: Update) -> None:
        """Raises whatever `take` raised, unless this update alone keeps all others from coming."""
        try:
            async with self._storing:
                await self._take(update)
        except (TelegramError, EchoBotError):
            raise
        except Exception:
            # A fault of the core or of this adapter: tried again, but it must not stop the channel for good.
            self._stuck_times = self._stuck_times + 1 if self._stuck_on == update.update_id else 1
            self._stuck_on = update.update_id
            if self._stuck_times < _TRIES_PER_UPDATE:
                raise
            log.exception("telegram_update_dropped", account=self._account, update=update.update_id)
        else:
            self._last_event_at = datetime.now(UTC)

    def _succeeded(self, *, proven: bool) -> None:
        """A call that had to wait proves that nobody else polls; a quick one may have slipped between."""
        if proven:
            self._contested, self._delay = False, self._rhythm.first_retry
        self._pause = 0.0
        if not self._contested and self._state is not ChannelState.CONNECTED:
            log.info("telegram_connected", account=self._account, bot=self._bot.username)
            self._state, self._error, self._again_at = ChannelState.CONNECTED, "", None

    def _note(self, failure: ChannelError) -> None:
        """Show the failure and how long to wait; the next call is a quick one, to see whether it is over."""
        self._caught_up = False
        match failure:
            case RetryAfter():
                self._pause = failure.seconds + _SLACK_SECONDS
            case ChannelFatal():
                self._pause = self._rhythm.fatal_retry
            case _:
                self._pause = self._delay
                self._delay = min(self._delay * _GROWTH, self._rhythm.longest_retry)
        fatal = isinstance(failure, ChannelFatal)
        self._state, self._error = ChannelState.FAILED if fatal else ChannelState.RETRYING, str(failure)
        self._again_at = datetime.now(UTC) + timedelta(seconds=self._pause)
        log.warning("telegram_polling_failed", account=self._account, error=self._error, pause=self._pause)
