"""Long polling: an update is confirmed once it and all before it are stored; failures end in another try."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import structlog
from telegram import Update
from telegram.error import Conflict, TelegramError

from channels.telegram.client import TelegramBot
from channels.telegram.failures import failure_of
from channels.telegram.intake import Held, Intake
from channels.telegram.reading import ALLOWED_UPDATES
from channels.telegram.standing import Rhythm, Standing
from echo_bot.errors import ChannelError, ChannelFatal, EchoBotError, TemporaryFailure

log = structlog.get_logger(__name__)

_OTHER_POLLER = (
    "Telegram answers that another program receives this bot's messages. "
    "Stop the other one, or give this one its own bot"
)


class Poller:
    """Asks for updates, submits each to the intake. `greeted` is called whenever Telegram was reached anew.

    While an update is not stored (its album is still coming, its chat is slow), those after it are taken all
    the same; only the offset stays before it, so that a crash loses nothing.
    """

    def __init__(
        self,
        bot: TelegramBot,
        intake: Intake,
        greeted: Callable[[], None],
        standing: Standing,
        rhythm: Rhythm,
    ) -> None:
        self._bot, self._intake, self._on_greeted = bot, intake, greeted
        self._standing, self._rhythm = standing, rhythm
        self._offset = self._confirmed = 0
        self._fetched: dict[int, asyncio.Task[None]] = {}
        self._greeted = self._caught_up = False

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
            await asyncio.sleep(self._standing.pause)
            try:
                await self._turn()
            except Conflict as error:
                self._standing.contested()
                self._greeted = "webhook" not in error.message
                self._note(TemporaryFailure(_OTHER_POLLER))
            except TelegramError as error:
                self._note(failure_of(error, self._bot.token))
            except EchoBotError as error:
                self._note(TemporaryFailure(f"A message could not be stored: {error}"))
            except Exception as error:  # noqa: BLE001 the loop outlives any fault in the SDK or the core
                self._note(TemporaryFailure(f"An update could not be handled: {type(error).__name__}"))

    async def last_word(self) -> None:
        """Confirm what is stored, so that it does not come again after a restart. Best effort."""
        self._advance()
        if self._offset == self._confirmed:
            return
        try:
            async with asyncio.timeout(self._rhythm.last_word):
                await self._bot.get_updates(offset=self._offset, timeout=0, allowed_updates=ALLOWED_UPDATES)
        except (TelegramError, TimeoutError):
            log.info("telegram_offset_not_confirmed")

    async def _turn(self) -> None:
        if not self._greeted:
            await self._greet()
        waits = self._caught_up and self._stored_all()
        await self._fetch(timeout_seconds=self._rhythm.poll if waits else 0)
        self._caught_up = True

    async def _greet(self) -> None:
        """Learn who we are and end any webhook, beside which Telegram allows no polling."""
        await self._bot.initialize()
        await self._bot.delete_webhook()
        self._greeted = True
        self._standing.succeeded(proven=False)
        self._on_greeted()

    async def _fetch(self, timeout_seconds: int) -> None:
        updates = await self._bot.get_updates(
            offset=self._offset, timeout=timeout_seconds, allowed_updates=ALLOWED_UPDATES
        )
        self._confirmed = self._offset
        self._standing.succeeded(proven=timeout_seconds > 0)
        await self._submit(updates)
        self._advance()
        if updates and not self._stored_all():
            await self._hold()

    async def _submit(self, updates: Sequence[Update]) -> None:
        """Begin with those that are not stored yet, and give them all a moment."""
        stored = {each: task for each, task in self._fetched.items() if _is_stored(task)}
        self._fetched = {
            update.update_id: stored.get(update.update_id) or self._intake.submit(update)
            for update in updates
        }
        if updates:
            await asyncio.wait(set(self._fetched.values()), timeout=self._rhythm.hold)

    async def _hold(self) -> None:
        """Something is not stored: look again soon. Raises what the store raised."""
        ended = [task for task in self._fetched.values() if task.done()]
        failures = [task.exception() for task in ended if not task.cancelled()]
        for failure in failures:
            if isinstance(failure, EchoBotError | TelegramError):
                raise failure
        for failure in failures:
            if failure is not None and not isinstance(failure, Held):
                log.warning("telegram_update_not_taken", error=type(failure).__name__)
        if len(ended) == len(self._fetched):
            await asyncio.sleep(self._rhythm.hold)

    def _advance(self) -> None:
        """Move the offset to the first update that is not stored."""
        for update_id, task in self._fetched.items():
            if not _is_stored(task):
                self._offset = update_id
                return
            self._offset = update_id + 1

    def _stored_all(self) -> bool:
        return all(_is_stored(task) for task in self._fetched.values())

    def _note(self, failure: ChannelError) -> None:
        """The next call is a quick one, to see whether the trouble is over."""
        self._caught_up = False
        self._standing.failed(failure)


def _is_stored(task: asyncio.Task[None]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
