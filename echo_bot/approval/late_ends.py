"""Cards that could not show their end when it came: tried again until they do, also after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import datetime, timedelta
from typing import Any

import structlog

from echo_bot.backoff import backoff
from echo_bot.errors import StorageError
from echo_bot.events import Address, ApprovalId
from echo_bot.storage.protocol import Approvals
from echo_bot.storage.records import ApprovalRecord

log = structlog.get_logger(__name__)

Show = Callable[[ApprovalRecord], Awaitable[None]]
Running = Callable[[], frozenset[tuple[str, str]]]
"""The (channel, account) pairs that can be sent to now."""

_LOOK_SECONDS = 5.0
_LONGEST_PAUSE_SECONDS = 600.0
_TRIED_FOR = timedelta(days=7)


class LateEnds:
    """Looks every few seconds for cards with buttons that decide nothing any more, where they can be reached.

    A card that fails again and again is tried less often, and one that hangs keeps no other waiting.
    """

    def __init__(
        self, approvals: Approvals, show: Show, *, running: Running, clock: Callable[[], datetime]
    ) -> None:
        self._approvals, self._show = approvals, show
        self._running, self._clock = running, clock
        self._next: dict[ApprovalId, tuple[int, datetime]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        self._begin(self._keep_looking(), "late ends of cards")

    async def close(self) -> None:
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def look(self) -> None:
        """Begin to show those that are due."""
        now, running = self._clock(), self._running()
        records = await self._approvals.unended(now - _TRIED_FOR)
        waiting = {record.approval_id for record in records}
        self._next = {each: due for each, due in self._next.items() if each in waiting}
        for record in records:
            tries, due = self._next.get(record.approval_id, (0, now))
            missing = (ref.address for ref in record.copies if ref not in record.ended)
            if due <= now and any(_place(address) in running for address in missing):
                pause = backoff(tries, _LOOK_SECONDS, _LONGEST_PAUSE_SECONDS)
                self._next[record.approval_id] = tries + 1, now + timedelta(seconds=pause)
                self._begin(self._try(record), f"late end of {record.approval_id}")

    async def _try(self, record: ApprovalRecord) -> None:
        try:
            await self._show(record)
        except Exception:  # the outer edge of this task: it is tried again
            log.exception("late_end_failed", approval=record.approval_id)

    def _begin(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            try:
                await self.look()
            except StorageError as error:
                log.warning("late_ends_unread", error=str(error))


def _place(address: Address) -> tuple[str, str]:
    return address.channel, address.account
