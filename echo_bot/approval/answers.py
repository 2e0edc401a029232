"""What a closed request means for whoever waits; only here does a person's decision become a source."""

from __future__ import annotations

from dataclasses import dataclass, replace

from echo_bot.approval.escape import escape_line
from echo_bot.approval.names import named
from echo_bot.policy.decision import ApprovalSource
from echo_bot.policy.quorum import Tally, tally
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus
from echo_bot.text.language import N_

UNREACHABLE = N_("no approver could be reached")
TIMED_OUT = N_("nobody decided in time")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person, or the lack of one, came to. `source` is HUMAN exactly when a person approved.

    `was_edited`: neither; another call took this one's place, and that one is judged now.
    """

    approved: bool
    sentence: str
    source: ApprovalSource | None = None
    by: str = ""
    text: str = ""
    decision: str = ""
    was_edited: bool = False


def answer_of(record: ApprovalRecord) -> Answer:
    """The answer that a closed record holds."""
    by, shown = deciders(record), escape_line(named_deciders(record))
    match record.status:
        case ApprovalStatus.APPROVED | ApprovalStatus.USED if by and votes_of(record).is_reached:
            sentence = f"Approved by {shown}."
            return Answer(True, sentence, ApprovalSource.HUMAN, by, record.answer, record.decision)
        case ApprovalStatus.DENIED:
            reason = f" Reason: {escape_line(record.answer)}" if record.answer else ""
            return Answer(False, f"Not executed: {shown} denied it.{reason}", None, by, record.answer)
        case ApprovalStatus.EDITED:
            return Answer(False, f"Not executed: {shown} changed the call.", None, by, was_edited=True)
        case ApprovalStatus.EXPIRED:
            return Answer(False, f"Not executed, and nobody consented: {TIMED_OUT}.")
        case _:
            why = record.answer or "the request was cancelled"
            return Answer(False, f"Not executed, and nobody consented: {why}.")


def votes_of(record: ApprovalRecord) -> Tally:
    """Who approved so far and how many are missing; a call that one person decides needs no votes."""
    if record.quorum <= 1:
        return Tally((), 0)
    return tally(((v.person, v.voter, v.digest) for v in record.votes), record.digest, record.quorum)


def deciders(record: ApprovalRecord) -> str:
    """Who decided it; of an approval by several, all of them."""
    return ", ".join(votes_of(record).approved) if _is_by_several(record) else record.decided_by


def named_deciders(record: ApprovalRecord) -> str:
    """The same with their names, neither masked nor escaped."""
    if _is_by_several(record):
        return ", ".join(named_votes(record).approved)
    return named(record.decided_by, record.decided_by_name)


def named_votes(record: ApprovalRecord) -> Tally:
    """The votes with the voters' names, neither masked nor escaped."""
    votes = votes_of(record)
    names = {vote.voter: vote.voter_name for vote in record.votes}
    return replace(votes, approved=tuple(named(voter, names[voter]) for voter in votes.approved))


def _is_by_several(record: ApprovalRecord) -> bool:
    return record.status in (ApprovalStatus.APPROVED, ApprovalStatus.USED) and bool(record.votes)
