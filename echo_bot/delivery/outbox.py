"""The outbox at work: stores a message's parts, hands them to the channel one by one per chat, retries, gives up aloud."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

import structlog

from echo_bot.channel import Channel
from echo_bot.delivery.body import Body, hand_over
from echo_bot.delivery.book import ChannelBook
from echo_bot.errors import ChannelError, FormatRejected, RetryAfter, StorageError, TargetGone
from echo_bot.events import Address, MessageRef, OutboundFile
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import OutboxRow, TranscriptRow
from echo_bot.text import split_markdown

log = structlog.get_logger(__name__)

_BATCH = 64
_MAX_BACKOFF_SECONDS = 60.0
_NOT_RUNNING_RETRY_SECONDS = 5.0
_SEND_TIMEOUT_SECONDS = 90.0
_REPEATED = "(possibly repeated)\n"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a message: all parts delivered, some still queued, or one failed for good (`error`)."""

    state: Literal["delivered", "queued", "failed"]
    error: str = ""


class Delivery:
    """Sends texts and files. `mask` hides secrets and is applied before anything is stored."""

    def __init__(
        self,
        store: Store,
        book: ChannelBook,
        *,
        clock: Callable[[], datetime],
        mask: Callable[[str], str],
        max_tries: int,
    ) -> None:
        self._store, self._book, self._clock, self._mask = store, book, clock, mask
        self._max_tries = max_tries
        self._wake = asyncio.Event()
        self._in_flight: dict[Address, asyncio.Task[None]] = {}
        self._waiters: dict[int, asyncio.Future[OutboxRow]] = {}
        self._loop_task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Take up what an earlier run left, then deliver until `close`."""
        for row in await self._store.outbox.recover():
            await self._requeue_unknown(row)
        self._loop_task = asyncio.create_task(self._dispatch(), name="outbox")

    async def close(self) -> None:
        """Stop sending; what is queued stays stored."""
        tasks = [*self._in_flight.values(), *([self._loop_task] if self._loop_task else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._loop_task = None

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
        reply_to_id: str = "",
        replaces: str = "",
        files: tuple[OutboundFile, ...] = (),
        wait_seconds: float = 0,
    ) -> Receipt:
        """Store `text` (split to the channel's limit) and `files` under `source`, which makes it idempotent.

        `replaces` is a draft that the first part takes the place of. Waits up to `wait_seconds` for the end.
        """
        bodies = [
            Body("text", part, markdown, reply_to_id if index == 0 else "", replaces if index == 0 else "")
            for index, part in enumerate(self._parts(address, self._mask(text)))
        ]
        bodies += [Body("file", path=file.path, name=file.name, mime=file.mime) for file in files]
        now = self._clock()
        rows = await self._store.outbox.put(
            tuple(OutboxRow(source, index, address, body.to_json(), now) for index, body in enumerate(bodies))
        )
        futures = [self._waiter(row) for row in rows if row.state in ("queued", "sending")]
        self._wake.set()
        if wait_seconds and futures:
            await asyncio.wait(futures, timeout=wait_seconds)
        return await self._receipt(rows, futures, waited=bool(wait_seconds))

    async def typing(self, address: Address) -> None:
        """Best effort: a typing sign never fails a turn."""
        channel = self._book.get(address)
        if channel is not None and channel.capabilities.typing:
            try:
                await channel.typing(address)
            except ChannelError as error:
                log.debug("typing_failed", address=str(address), error=str(error))

    def channel(self, address: Address) -> Channel | None:
        return self._book.get(address)

    def _parts(self, address: Address, text: str) -> tuple[str, ...]:
        channel = self._book.get(address)
        if not text.strip():
            return ()
        if channel is None:
            return (text,)
        return split_markdown(text, channel.capabilities.max_length, channel.capabilities.length_unit)

    def _waiter(self, row: OutboxRow) -> asyncio.Future[OutboxRow]:
        return self._waiters.setdefault(row.row_id, asyncio.get_running_loop().create_future())

    async def _receipt(
        self, rows: tuple[OutboxRow, ...], futures: list[asyncio.Future[OutboxRow]], *, waited: bool
    ) -> Receipt:
        ended = {f.result().row_id: f.result() for f in futures if f.done() and not f.cancelled()}
        last = [ended.get(row.row_id, row) for row in rows]
        failed = next((row for row in last if row.state == "dead"), None)
        if failed is not None:
            return Receipt("failed", failed.error)
        return Receipt("delivered" if all(row.state == "sent" for row in last) else "queued")

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
                if row.address not in self._in_flight:
                    task = asyncio.create_task(self._deliver(row), name=f"deliver {row.row_id}")
                    self._in_flight[row.address] = task
            await self._wake.wait()

    def _wake_later(self, seconds: float) -> None:
        asyncio.get_running_loop().call_later(max(seconds, 0.0), self._wake.set)

    async def _deliver(self, row: OutboxRow) -> None:
        try:
            channel = self._book.get(row.address)
            if channel is None:
                await self._later(row, _NOT_RUNNING_RETRY_SECONDS, "the channel is not running", counts=False)
                return
            await self._store.outbox.mark(row.row_id, "sending")
            await self._attempt(channel, row)
        except StorageError as error:
            log.error("outbox_unwritable", row=row.row_id, error=str(error))
        finally:
            del self._in_flight[row.address]
            self._wake.set()

    async def _attempt(self, channel: Channel, row: OutboxRow) -> None:
        body = Body.from_json(row.body_json)
        try:
            ref = await self._hand_over(channel, row, body)
        except RetryAfter as error:
            await self._later(row, error.seconds + 0.1, str(error), counts=False)
        except TargetGone as error:
            await self._dead(row, str(error))
        except (ChannelError, OSError, TimeoutError) as error:
            if row.tries + 1 >= self._max_tries:
                await self._dead(row, str(error) or type(error).__name__)
            else:
                await self._later(row, min(2.0**row.tries, _MAX_BACKOFF_SECONDS), str(error), counts=True)
        else:
            await self._sent(row, body, ref)

    async def _hand_over(self, channel: Channel, row: OutboxRow, body: Body) -> MessageRef:
        key = f"{row.source}:{row.part}"
        plain = False
        while True:
            try:
                async with asyncio.timeout(_SEND_TIMEOUT_SECONDS):
                    return await hand_over(channel, row.address, body, dedup_key=key, plain=plain)
            except FormatRejected:
                if plain:
                    raise
                plain = True
            except TargetGone:
                if not body.replaces:
                    raise
                body = replace(body, replaces="")

    async def _sent(self, row: OutboxRow, body: Body, ref: MessageRef) -> None:
        await self._store.outbox.mark(row.row_id, "sent", message_id=ref.message_id)
        text = body.text if body.kind == "text" else f"[file] {body.name}"
        await self._store.sessions.put_transcript(
            TranscriptRow(
                ref.message_id or f"{row.source}:{row.part}", row.address, "bot", text, self._clock()
            )
        )
        self._end(replace(row, state="sent", message_id=ref.message_id))

    async def _later(self, row: OutboxRow, seconds: float, why: str, *, counts: bool) -> None:
        at = self._clock() + timedelta(seconds=seconds)
        await self._store.outbox.mark(row.row_id, "queued", error=why, next_try_at=at, count_try=counts)
        self._wake_later(seconds)

    async def _dead(self, row: OutboxRow, why: str) -> None:
        log.error("message_undeliverable", row=row.row_id, address=str(row.address), error=why)
        await self._store.outbox.mark(row.row_id, "dead", error=why)
        self._end(replace(row, state="dead", error=why))

    def _end(self, row: OutboxRow) -> None:
        future = self._waiters.pop(row.row_id, None)
        if future is not None and not future.done():
            future.set_result(row)

    async def _requeue_unknown(self, row: OutboxRow) -> None:
        """It may have arrived just before the crash: repeat it where that is harmless, else say that it may be one."""
        channel = self._book.get(row.address)
        body = Body.from_json(row.body_json)
        harmless = body.replaces or (channel is not None and channel.capabilities.dedups_sends)
        if not harmless and body.kind == "text":
            await self._store.outbox.mark(
                row.row_id, "dead", error="repeated as a new message after a restart"
            )
            again = replace(body, text=_REPEATED + body.text, markdown=False)
            await self._store.outbox.put(
                (OutboxRow(f"{row.source}:again", row.part, row.address, again.to_json(), self._clock()),)
            )
            return
        await self._store.outbox.mark(row.row_id, "queued")


def outbound_file(path: str, mime: str) -> OutboundFile:
    return OutboundFile(path=path, name=os.path.basename(path), mime=mime)
