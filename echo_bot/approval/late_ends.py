"""Cards that could not show their end when it came: tried again until they do, also after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import structlog

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

    A card that fails again and again is tried less often.
    """

    def __init__(
        self, approvals: Approvals, show: Show, *, running: Running, clock: Callable[[], datetime]
    ) -> None:
        self._approvals, self._show = approvals, show
        self._running, self._clock = running, clock
        self._next: dict[ApprovalId, tuple[int, datetime]] = {}
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._keep_showing(), name="late ends of cards")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            self._task = None

    async def look(self) -> None:
        """Show those that are due, one after the other."""
        now, running = self._clock(), self._running()
        records = await self._approvals.unended(now - _TRIED_FOR)
        waiting = {record.approval_id for record in records}
        self._next = {each: due for each, due in self._next.items() if each in waiting}
        for record in records:
            tries, due = self._next.get(record.approval_id, (0, now))
            missing = (ref.address for ref in record.copies if ref not in record.ended)
            if due <= now and any(_place(address) in running for address in missing):
                pause = min(_LOOK_SECONDS * 2**tries, _LONGEST_PAUSE_SECONDS)
                self._next[record.approval_id] = tries + 1, now + timedelta(seconds=pause)
                await self._show(record)

    async def _keep_showing(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            try:
                await self.look()
            except StorageError as error:
                log.warning("late_ends_unread", error=str(error))
            except Exception:  # the outer edge of this task: the others are tried all the same
                log.exception("late_ends_failed")


def _place(address: Address) -> tuple[str, str]:
    return address.channel, address.account
