"""Turn one person's choice into the one decision: who may, whether it is still open, the atomic claim, the grant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Protocol
from uuid import uuid4

from echo_bot.approval.request import Choice
from echo_bot.approval.stored import request_from_json
from echo_bot.events import ApprovalId, Identity, PressReply
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus, GrantRecord, Ruling

Clock = Callable[[], datetime]
"""The time now, timezone-aware UTC."""

_GRANT_SCOPES: dict[Choice, Literal["session", "1h", "always"]] = {
    Choice.SESSION: "session",
    Choice.HOUR: "1h",
    Choice.ALWAYS: "always",
}
_HOUR = timedelta(hours=1)


class Approvers(Protocol):
    """Who may decide a request; see `echo_bot.approval.approvers`."""

    async def may_decide(self, by: Identity, record: ApprovalRecord) -> bool: ...


class Recorder(Protocol):
    """The audit, as far as this module needs it."""

    async def record(self, kind: str, **fields: object) -> None: ...


@dataclass(frozen=True, slots=True)
class Decided:
    """What came of a choice: the reply for whoever chose, and the record if this very choice decided it."""

    reply: PressReply
    record: ApprovalRecord | None = None


class Decider:
    """The one way to decide: buttons, chat commands and the command line all come through here."""

    def __init__(self, store: Store, approvers: Approvers, audit: Recorder, clock: Clock) -> None:
        self._store, self._approvers, self._audit, self._clock = store, approvers, audit, clock

    async def find(self, ref: str) -> ApprovalRecord | None:
        """By whole id, or by the short id that cards show if exactly one pending request has it."""
        record = await self._store.approvals.get(ApprovalId(ref))
        if record is not None:
            return record
        matches = [
            r for r in await self._store.approvals.pending() if ref and r.approval_id.endswith(ref.lower())
        ]
        return matches[0] if len(matches) == 1 and len(ref) >= 4 else None

    async def decide(self, ref: str, choice: Choice, by: Identity, *, reason: str = "") -> Decided:
        """Decide the approval `ref` as `by`. Every refusal is a sentence in the reply, never an exception."""
        record = await self.find(ref)
        if record is None:
            return Decided(
                PressReply("No open approval has that id. /approvals lists the open ones.", ok=False)
            )
        refusal = await self._refusal(record, choice.value, by)
        if refusal:
            return Decided(PressReply(refusal, ok=False))
        status = ApprovalStatus.APPROVED if choice.approves else ApprovalStatus.DENIED
        decided = await self._claim(record, Ruling(status, str(by), choice.value, self._clock(), reason))
        if isinstance(decided, PressReply):
            return Decided(decided)
        if choice in _GRANT_SCOPES:
            await self._grant(decided, choice, by)
        word = "Approved" if choice.approves else "Denied"
        return Decided(PressReply(f"{word}: {choice.label}."), decided)

    async def answer(self, ref: str, option: str, by: Identity, *, text: str = "") -> Decided:
        """Answer the question `ref`. Only the person who was asked may."""
        record = await self.find(ref)
        if record is None:
            return Decided(PressReply("That question is no longer open.", ok=False))
        if str(by) != record.requester:
            return Decided(PressReply("Only the person who was asked can answer this.", ok=False))
        if record.status is not ApprovalStatus.PENDING:
            return Decided(PressReply("That question was answered already.", ok=False))
        ruling = Ruling(ApprovalStatus.APPROVED, str(by), option, self._clock(), text or option)
        decided = await self._claim(record, ruling)
        return (
            Decided(decided)
            if isinstance(decided, PressReply)
            else Decided(PressReply("Thank you."), decided)
        )

    async def close(self, record: ApprovalRecord, status: ApprovalStatus, why: str) -> ApprovalRecord | None:
        """End a request without a person: expired or cancelled. None if somebody decided first."""
        closed = await self._store.approvals.decide(
            record.approval_id, Ruling(status, "", "", self._clock(), why)
        )
        if closed is not None:
            await self._audit.record(
                "approval_closed", approval=record.approval_id, status=status.value, why=why
            )
        return closed

    async def _refusal(self, record: ApprovalRecord, decision: str, by: Identity) -> str:
        if not await self._approvers.may_decide(by, record):
            return "You may not decide this."
        if record.status is not ApprovalStatus.PENDING:
            return closed_sentence(record)
        if record.deadline is not None and record.deadline <= self._clock():
            return "This request has expired; nothing was run."
        if decision not in record.offered:
            return f"“{decision}” is not offered for this call. Offered: {', '.join(record.offered)}."
        return ""

    async def _claim(self, record: ApprovalRecord, ruling: Ruling) -> ApprovalRecord | PressReply:
        decided = await self._store.approvals.decide(record.approval_id, ruling)
        if decided is None:
            now = await self._store.approvals.get(record.approval_id)
            return PressReply(closed_sentence(now) if now else "This request is gone.", ok=False)
        await self._audit.record(
            "decision",
            approval=record.approval_id,
            turn=record.turn_id,
            tool=record.tool,
            digest=record.digest,
            choice=ruling.decision,
            by=ruling.decided_by,
        )
        return decided

    async def _grant(self, record: ApprovalRecord, choice: Choice, by: Identity) -> None:
        now = self._clock()
        await self._store.grants.add(
            GrantRecord(
                grant_id=uuid4().hex[:12],
                owner=record.requester,
                digest=record.digest,
                tool=record.tool,
                summary=request_from_json(record.request_json).summary,
                scope=_GRANT_SCOPES[choice],
                created_at=now,
                created_by=str(by),
                session_key=record.session_key if choice is Choice.SESSION else "",
                expires_at=now + _HOUR if choice is Choice.HOUR else None,
            )
        )


def closed_sentence(record: ApprovalRecord) -> str:
    """Why a request cannot be decided any more, and by whom it was."""
    match record.status:
        case ApprovalStatus.APPROVED | ApprovalStatus.USED:
            return f"Already approved by {record.decided_by}."
        case ApprovalStatus.DENIED:
            return f"Already denied by {record.decided_by}."
        case ApprovalStatus.EXPIRED:
            return "This request has expired; nothing was run."
        case ApprovalStatus.CANCELLED:
            return "This request was cancelled; nothing was run."
        case ApprovalStatus.PENDING:
            return "This request is still open."
