"""The outbox at work: parts are stored, handed over one by one per chat, retried, given up aloud."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

import structlog

from echo_bot.backoff import backoff
from echo_bot.channel import Channel, ChannelState
from echo_bot.delivery.body import Body, parts_for
from echo_bot.delivery.book import ChannelBook
from echo_bot.delivery.courier import REPEATED, Courier
from echo_bot.delivery.moved import MovedChats
from echo_bot.delivery.pace import Pace
from echo_bot.delivery.receipt import Receipt, receipt_of
from echo_bot.errors import (
    ChannelError,
    ChannelFatal,
    FormatRejected,
    OutcomeUnknown,
    RetryAfter,
    StorageError,
    TargetGone,
)
from echo_bot.events import Address, MessageRef, OutboundFile
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import OutboxRow, OutboxState, TranscriptRow, TurnEnd
from echo_bot.text import encodable, is_blank

log = structlog.get_logger(__name__)

T = TypeVar("T")
OnDead = Callable[[OutboxRow], Awaitable[None]]

_BATCH = 64
_UNSENT = ("queued", "sending")
_MAX_PAUSE_SECONDS = 60.0
_NOT_RUNNING_RETRY_SECONDS = 5.0
_LOOK_AGAIN_SECONDS = 5.0
_LAST_SENDS_SECONDS = 0.5
_MARK_PAUSES_SECONDS = (0.1, 0.5, 2.0, 10.0)


class Delivery:
    """Sends texts and files. `mask` hides secrets and is applied before anything is stored.

    `pace` is what drafts and status lines share; of it, sending keeps to what the platform asked for alone.
    """

    def __init__(
        self,
        store: Store,
        book: ChannelBook,
        moved: MovedChats,
        pace: Pace,
        *,
        clock: Callable[[], datetime],
        mask: Callable[[str], str],
        max_tries: int,
    ) -> None:
        self._store, self._book, self._moved = store, book, moved
        self.pace = pace
        self._clock, self._mask = clock, mask
        self._max_tries = max_tries
        self._courier = Courier(book)
        self._on_dead: OnDead | None = None
        self._wake = asyncio.Event()
        self._busy: set[Address] = set()
        self._behind: set[Address] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._waiters: dict[tuple[str, int], asyncio.Future[OutboxRow]] = {}
        self._loop_task: asyncio.Task[None] | None = None

    def when_dead(self, tell: OnDead) -> None:
        """What to do with a row that is given up. To be set before the start."""
        self._on_dead = tell

    async def start(self) -> None:
        """Take up what an earlier run left, each in its old place, then deliver until `close`."""
        await self._moved.load()
        for row in await self._store.outbox.recover():
            await self._store.outbox.mark(row.row_id, "queued", error=REPEATED)
        self._loop_task = asyncio.create_task(self._dispatch(), name="outbox")

    async def close(self) -> None:
        """Stop sending; what is queued stays stored. What is under way gets a moment to arrive."""
        await _end([self._loop_task] if self._loop_task else [])
        self._loop_task = None
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_SENDS_SECONDS):
                while self._tasks:
                    await asyncio.wait(self._tasks)
        await _end([*self._tasks])

    def wake(self) -> None:
        """Look again: a channel came back."""
        self._wake.set()

    async def send(
        self,
        address: Address,
        text: str,
        *,
        source: str,
        markdown: bool = True,
        is_own: bool = False,
        reply_to_id: str = "",
        replaces: str = "",
        files: tuple[OutboundFile, ...] = (),
        ends: TurnEnd | None = None,
        wait_seconds: float = 0,
    ) -> Receipt:
        """Store `text` (split to the channel's limit) and `files` under `source`, which makes it idempotent.

        `replaces` is a draft that the first part takes the place of; `ends` is the turn that ends as this is
        stored. Waits up to `wait_seconds` for the delivery's end.
        """
        address = self._moved.now(address)
        bodies = [
            Body("text", part, markdown, is_own=is_own)
            for part in self._parts(address, self._mask(encodable(text)))
        ]
        bodies[:1] = [replace(body, reply_to_id=reply_to_id, replaces=replaces) for body in bodies[:1]]
        bodies += [Body("file", path=file.path, name=file.name, mime=file.mime) for file in files]
        now = self._clock()
        keys = [(source, index) for index in range(len(bodies))] if wait_seconds else []
        loop = asyncio.get_running_loop()
        futures = {key: self._waiters.setdefault(key, loop.create_future()) for key in keys}
        try:
            rows = await self._put(
                address,
                tuple(
                    OutboxRow(source, index, address, each.to_json(), now)
                    for index, each in enumerate(bodies)
                ),
                ends,
            )
            open_ones = [futures[row.source, row.part] for row in rows if row.state in _UNSENT and futures]
            if open_ones:
                await asyncio.wait(open_ones, timeout=wait_seconds)
        finally:
            for key in keys:
                self._waiters.pop(key, None)
        ended = {key: future.result() for key, future in futures.items() if future.done()}
        return receipt_of([ended.get((row.source, row.part), row) for row in rows])

    async def typing(self, address: Address) -> None:
        """Best effort: a typing sign never fails a turn."""
        address = self._moved.now(address)
        channel = self._book.get(address)
        if channel is not None and channel.capabilities.typing:
            try:
                await channel.typing(address)
            except ChannelError as error:
                log.debug("typing_failed", address=str(address), error=str(error))

    def now(self, address: Address) -> Address:
        """The address under the chat's present id."""
        return self._moved.now(address)

    async def has_unsent(self, address: Address) -> bool:
        return await self._store.outbox.has_unsent(address)

    def channel(self, address: Address) -> Channel | None:
        return self._book.get(address)

    def _parts(self, address: Address, text: str) -> tuple[str, ...]:
        """What is sent of the text; platforms refuse a part that shows nothing."""
        channel = self._book.get(address)
        parts = (text,) if channel is None else parts_for(channel, text)
        return tuple(part for part in parts if not is_blank(part))

    async def _put(
        self, address: Address, rows: tuple[OutboxRow, ...], ends: TurnEnd | None
    ) -> tuple[OutboxRow, ...]:
        """Store them, and send the first at once where nothing is under way.

        In a task of its own: what is stored as being sent must be sent, also when the caller is cancelled.
        """
        is_next = bool(rows) and self._loop_task is not None and address not in self._busy
        if not is_next or self._book.get(address) is None:
            stored = await self._store.outbox.put(rows, ends)
            if rows:
                self._look_again(address)
            return stored
        self._busy.add(address)
        storing = self._put_to_send(address, rows, ends)
        return await asyncio.shield(self._begin(storing, f"store for {address}"))

    async def _put_to_send(
        self, address: Address, rows: tuple[OutboxRow, ...], ends: TurnEnd | None
    ) -> tuple[OutboxRow, ...]:
        is_first = False
        try:
            stored, is_first = await self._store.outbox.put_to_send(rows, ends)
        finally:
            if not is_first:
                self._busy.discard(address)
                self._look_again(address)
        if is_first:
            if len(stored) > 1:
                self._behind.add(address)
            self._begin(self._deliver(stored[0]), f"deliver {stored[0].row_id}")
        return stored

    def _look_again(self, address: Address) -> None:
        """A row waits there: now, or once what is under way has ended."""
        if address in self._busy:
            self._behind.add(address)
        else:
            self._wake.set()

    def _begin(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _dispatch(self) -> None:
        while True:
            self._wake.clear()
            try:
                due = await self._store.outbox.due(self._clock(), _BATCH)
            except StorageError as error:
                log.error("outbox_unreadable", error=str(error))
                self._wake_later(_NOT_RUNNING_RETRY_SECONDS)
                due = ()
            for row in due:
                if row.address not in self._busy:
                    self._busy.add(row.address)
                    self._behind.add(row.address)
                    self._begin(self._deliver(row), f"deliver {row.row_id}")
            # Not only when told: a row may wait for its time since before the start, and clocks are set back.
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_AGAIN_SECONDS):
                    await self._wake.wait()

    def _wake_later(self, seconds: float) -> None:
        asyncio.get_running_loop().call_later(max(seconds, 0.0), self._wake.set)

    async def _deliver(self, row: OutboxRow) -> None:
        """Hand over a row, and those that wait behind it."""
        address = row.address
        at_hand: OutboxRow | None = row
        try:
            while at_hand is not None:
                at_hand = await self._deliver_one(at_hand)
        except StorageError as error:
            log.error("outbox_unwritable", row=row.row_id, error=str(error))
            await asyncio.sleep(1.0)
        finally:
            self._busy.discard(address)
            if address in self._behind:
                self._behind.discard(address)
                self._wake.set()

    async def _deliver_one(self, row: OutboxRow) -> OutboxRow | None:
        """Returns the next row of the same chat, marked `sending`, once this one arrived."""
        channel = self._book.started(row.address)
        if channel is None:
            await self._later(row, _NOT_RUNNING_RETRY_SECONDS, "the channel is not running", counts=False)
            return None
        if held := self.pace.held(row.address):
            await self._later(row, held + 0.1, "the platform asked to wait", counts=False)
            return None
        if row.state != "sending":
            await self._store.outbox.mark(row.row_id, "sending")
        return await self._attempt(channel, row)

    async def _attempt(self, channel: Channel, row: OutboxRow) -> OutboxRow | None:
        try:
            body = Body.from_json(row.body_json)
            ref = await self._courier.hand_over(channel, row, body)
        except RetryAfter as error:
            self.pace.hold(row.address, error.seconds)
            await self._later(row, error.seconds + 0.1, str(error), counts=False)
        except (TargetGone, ChannelFatal, FormatRejected) as error:
            # Of the last one the plain text was refused too, and would be again while others wait behind it.
            await self._dead(row, str(error))
        except Exception as error:  # the outer edge of a delivery: an adapter's fault blocks no chat
            if not isinstance(error, ChannelError | OSError | TimeoutError):
                log.exception("delivery_failed", row=row.row_id, address=str(row.address))
            counts = channel.health().state is not ChannelState.RETRYING
            if counts and row.tries + 1 >= self._max_tries:
                await self._dead(row, str(error) or type(error).__name__)
            else:
                mark = f"{REPEATED} " if isinstance(error, OutcomeUnknown | TimeoutError) else ""
                pause = backoff(row.tries, 1.0, _MAX_PAUSE_SECONDS) if counts else _NOT_RUNNING_RETRY_SECONDS
                await self._later(row, pause, f"{mark}{error}", counts=counts)
        else:
            return await self._sent(row, body, ref)
        return None

    async def _sent(self, row: OutboxRow, body: Body, ref: MessageRef) -> OutboxRow | None:
        text = body.text if body.kind == "text" else f"[file] {body.name}"
        entry_id = ref.message_id or f"{row.source}:{row.part}"
        # Where it stands may be another chat than it was sent to: a person's direct chat, one that moved.
        line = TranscriptRow(entry_id, self._moved.now(ref.address), "bot", text, self._clock())
        goes_on = self._loop_task is not None
        sent = partial(self._store.outbox.sent, row.row_id, ref.message_id, line, take_next=goes_on)
        next_row = await self._written(row, "sent", sent)
        if goes_on and next_row is None:
            self._behind.discard(row.address)  # that write found whatever was stored before it
        self._end(replace(row, state="sent", message_id=ref.message_id))
        return next_row

    async def _later(self, row: OutboxRow, seconds: float, why: str, *, counts: bool) -> None:
        at = self._clock() + timedelta(seconds=seconds)
        if row.error.startswith(REPEATED) and not why.startswith(REPEATED):
            why = f"{REPEATED} {why}"
        await self._mark(row, "queued", error=why, next_try_at=at, count_try=counts)
        self._wake_later(seconds)

    async def _dead(self, row: OutboxRow, why: str) -> None:
        log.error("message_undeliverable", row=row.row_id, address=str(row.address), error=why)
        await self._mark(row, "dead", error=why)
        dead = replace(row, state="dead", error=why)
        self._end(dead)
        if self._on_dead is not None:
            await self._on_dead(dead)

    async def _mark(
        self,
        row: OutboxRow,
        state: OutboxState,
        *,
        error: str = "",
        next_try_at: datetime | None = None,
        count_try: bool = False,
    ) -> None:
        mark = self._store.outbox.mark
        write = partial(mark, row.row_id, state, error=error, next_try_at=next_try_at, count_try=count_try)
        await self._written(row, state, write)

    async def _written(self, row: OutboxRow, state: OutboxState, write: Callable[[], Awaitable[T]]) -> T:
        """What became of it must be written: a row left `sending` holds up its chat until a restart."""
        for pause in _MARK_PAUSES_SECONDS:
            try:
                return await write()
            except StorageError as refused:
                log.warning("outbox_unwritable", row=row.row_id, error=str(refused))
                await asyncio.sleep(pause)
        raise StorageError(f"outbox row {row.row_id} could not be marked {state}")

    def _end(self, row: OutboxRow) -> None:
        if (future := self._waiters.get((row.source, row.part))) and not future.done():
            future.set_result(row)


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
