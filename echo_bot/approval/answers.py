"""What a closed request means for whoever waits; only here does a person's decision become a source."""

from __future__ import annotations

from dataclasses import dataclass

from echo_bot.policy.decision import ApprovalSource
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus

UNREACHABLE = "no approver could be reached"
TIMED_OUT = "nobody decided in time"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person, or the lack of one, came to. `source` is HUMAN exactly when a person approved."""

    approved: bool
    sentence: str
    source: ApprovalSource | None = None
    by: str = ""
    text: str = ""
    decision: str = ""


def answer_of(record: ApprovalRecord) -> Answer:
    """The answer that a closed record holds."""
    by = record.decided_by
    match record.status:
        case ApprovalStatus.APPROVED | ApprovalStatus.USED if by:
            sentence = f"Approved by {by}."
            return Answer(True, sentence, ApprovalSource.HUMAN, by, record.answer, record.decision)
        case ApprovalStatus.DENIED:
            reason = f" Reason: {record.answer}" if record.answer else ""
            return Answer(False, f"Not executed: {by} denied it.{reason}", None, by, record.answer)
        case ApprovalStatus.EXPIRED:
            return Answer(False, f"Not executed, and nobody consented: {TIMED_OUT}.")
        case _:
            why = record.answer or "the request was cancelled"
            return Answer(False, f"Not executed, and nobody consented: {why}.")
