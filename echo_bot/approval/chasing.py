"""An open question nobody answers: its chats are reminded, then others get the card."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from datetime import datetime

import structlog

from echo_bot.approval.copies import Copies
from echo_bot.errors import StorageError
from echo_bot.events import Address, ApprovalId
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ApprovalRecord

log = structlog.get_logger(__name__)

_LOOK_AGAIN_SECONDS = 30.0
_RETRY_SECONDS = 1.0


class Chaser:
    """`escalations` names the chats of those who get the card when its own stay silent."""

    def __init__(
        self,
        store: Store,
        copies: Copies,
        escalations: Callable[[ApprovalRecord], Awaitable[tuple[Address, ...]]],
        clock: Callable[[], datetime],
        in_background: Callable[[Coroutine[None, None, None]], None],
    ) -> None:
        self._store, self._copies, self._escalations = store, copies, escalations
        self._clock, self._in_background = clock, in_background
        self._escalating: set[ApprovalId] = set()

    async def chase(self, record: ApprovalRecord) -> float:
        """Remind and escalate when it is time. Returns the seconds until the next alarm."""
        now = self._clock()
        remind_at, escalate_at = record.remind_at, record.escalate_at
        try:
            if remind_at is not None and remind_at <= now:
                await self._copies.remind(record)
                await self._store.approvals.set_alarms(record.approval_id, None, escalate_at)
                remind_at = None
        except StorageError as error:
            log.warning("reminder_not_stored", approval=record.approval_id, error=str(error))
            return _RETRY_SECONDS
        if record.approval_id in self._escalating:
            escalate_at = None
        elif escalate_at is not None and escalate_at <= now:
            self._escalating.add(record.approval_id)
            self._in_background(self._escalate(record))
            escalate_at = None
        alarms = [(at - now).total_seconds() for at in (remind_at, escalate_at) if at is not None]
        return min(alarms, default=_LOOK_AGAIN_SECONDS)

    async def _escalate(self, record: ApprovalRecord) -> None:
        """Others get the card too. Once they have it, it is not sent again, also after a restart."""
        try:
            if await self._copies.send_more(record, await self._escalations(record)):
                await self._store.approvals.set_alarms(record.approval_id, None, None)
        except Exception:  # the outer edge of this task: the question itself goes on waiting
            log.exception("escalation_failed", approval=record.approval_id)
        finally:
            self._escalating.discard(record.approval_id)
