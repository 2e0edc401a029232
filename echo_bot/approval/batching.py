"""Several open calls on one card: which may stand there, how it is stored, what a decision on it came to."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import uuid4

from echo_bot.approval.request import Choice
from echo_bot.approval.stored import Batch, batch_from_json, batch_to_json, request_from_json
from echo_bot.events import Address, ApprovalId, Identity, SessionKey, TurnId
from echo_bot.policy.risk import RiskLevel
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus
from echo_bot.text.language import _, listed

LEAST = 2
"""Of fewer calls no batch is made: their own cards serve."""

OFFERED = (Choice.ONCE, Choice.DENY)


def may_stand_in_a_batch(record: ApprovalRecord) -> bool:
    """An open call that one person decides and that is not dangerous."""
    return (
        record.kind == "approval"
        and record.status is ApprovalStatus.PENDING
        and record.risk != RiskLevel.DANGEROUS.value
        and record.quorum == 1
    )


def batch_of(
    records: Sequence[ApprovalRecord], viewer: Identity, address: Address, now: datetime
) -> ApprovalRecord:
    """The row of a card that lists these calls, for `viewer` alone. It is over when the last of them is."""
    digests = tuple(record.digest for record in records)
    batch = Batch(tuple(request_from_json(record.request_json) for record in records), digests)
    deadlines = [record.deadline for record in records if record.deadline is not None]
    return ApprovalRecord(
        approval_id=ApprovalId(uuid4().hex[:20]),
        turn_id=TurnId(""),
        session_key=SessionKey(""),
        kind="batch",
        requester=str(viewer),
        address=address,
        tool="",
        digest=hashlib.sha256("\n".join(digests).encode()).hexdigest(),
        risk=RiskLevel.EXEC.value,
        request_json=batch_to_json(batch),
        offered=tuple(choice.value for choice in OFFERED),
        tokens=tuple(secrets.token_urlsafe(16) for _ in OFFERED),
        status=ApprovalStatus.PENDING,
        created_at=now,
        timeout_seconds=max((record.timeout_seconds for record in records), default=1),
        deadline=min(deadlines, default=None),
    )


def members(record: ApprovalRecord) -> tuple[tuple[ApprovalId, str], ...]:
    """The id and the digest of every call on a batch's card."""
    batch = batch_from_json(record.request_json)
    ids = (request.approval_id for request in batch.requests)
    return tuple(zip(ids, batch.digests, strict=True))


def batch_sentence(choice: Choice, done: Iterable[ApprovalRecord], left: Iterable[tuple[str, str]]) -> str:
    """What a decision came to; `left` are the calls it did not decide, each with the reason."""
    decided = [record.approval_id[-6:] for record in done]
    template = _("Approved once: {ids}.") if choice.approves else _("Denied: {ids}.")
    sentence = template.format(ids=listed(decided)) if decided else _("Nothing was decided.")
    others = " ".join(f"{ref}: {why}" for ref, why in left)
    return sentence + _(" Not decided by this: {others}").format(others=others) if others else sentence
