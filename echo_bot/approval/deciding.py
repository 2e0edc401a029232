"""Turn a person's choice into the one decision: who may, is it still open, the atomic claim, the grant."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Protocol
from uuid import uuid4

import structlog

from echo_bot.approval.answers import deciders, named_deciders, votes_of
from echo_bot.approval.batching import OFFERED, batch_sentence, members
from echo_bot.approval.editing import EditProblem, read_edit
from echo_bot.approval.escape import escape_line
from echo_bot.approval.request import Choice
from echo_bot.approval.stored import request_from_json
from echo_bot.errors import StorageError
from echo_bot.events import ApprovalId, Identity, PressReply
from echo_bot.policy.access import person_of, voter_of
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus, GrantRecord, Ruling, Vote
from echo_bot.text.language import N_, _, listed

log = structlog.get_logger(__name__)

Clock = Callable[[], datetime]
"""The time now, timezone-aware UTC."""

_TAKEN = {
    Choice.ONCE: N_("Approved once."),
    Choice.SESSION: N_("Approved for this session."),
    Choice.HOUR: N_("Approved for 1 hour."),
    Choice.ALWAYS: N_("Approved, always for exactly this call."),
    Choice.DENY: N_("Denied."),
    Choice.DENY_REASON: N_("Denied."),
}
_TAKEN_BY_SEVERAL = {
    Choice.ONCE: N_("Approved once, by {names}."),
    Choice.SESSION: N_("Approved for this session, by {names}."),
    Choice.HOUR: N_("Approved for 1 hour, by {names}."),
    Choice.ALWAYS: N_("Approved, always for exactly this call, by {names}."),
}
_GRANT_SCOPES: dict[Choice, Literal["session", "1h", "always"]] = {
    Choice.SESSION: "session",
    Choice.HOUR: "1h",
    Choice.ALWAYS: "always",
}
_HOUR = timedelta(hours=1)
_NOT_FOUND = N_("No open approval has that id. /approvals lists those that are open.")
_SHORTEST_REF = 4


class Approvers(Protocol):
    """Who may decide a request; see `echo_bot.approval.approvers`. A refusal is a sentence, "" is none."""

    async def refusal(self, by: Identity, record: ApprovalRecord) -> str: ...


class Recorder(Protocol):
    """The audit, as far as this module needs it."""

    async def record(self, kind: str, **fields: object) -> None: ...


@dataclass(frozen=True, slots=True)
class Decided:
    """What came of a choice: the reply for whoever chose, and the record if this very choice changed it.

    The record is still open when the choice was one approval of several. `members` are the calls that a
    decision on a batch closed.
    """

    reply: PressReply
    record: ApprovalRecord | None = None
    members: tuple[ApprovalRecord, ...] = ()


class Decider:
    """The one way to decide: buttons, chat commands and the command line all come through here."""

    def __init__(self, store: Store, approvers: Approvers, audit: Recorder, clock: Clock) -> None:
        self._store, self._approvers, self._audit, self._clock = store, approvers, audit, clock

    async def find(self, ref: str) -> ApprovalRecord | str:
        """By whole id, or by the short id that cards show if one has it, an open one first; else why not."""
        record = await self._store.approvals.get(ApprovalId(ref))
        if record is not None:
            return record
        ending = ref.lower()
        if len(ending) < _SHORTEST_REF:
            return _(_NOT_FOUND)
        matches = [r for r in await self._store.approvals.pending() if r.approval_id.endswith(ending)]
        if len(matches) > 1:
            return _("{count} open approvals end in “{ending}”. Write the whole id: {ids}.").format(
                count=len(matches), ending=ending, ids=_ids(matches)
            )
        if not matches:
            closed = await self._store.approvals.ending(ending)
            return closed[0] if len(closed) == 1 else _(_NOT_FOUND)
        return matches[0]

    async def decide(
        self, ref: str, choice: Choice, by: Identity, *, name: str = "", reason: str = ""
    ) -> Decided:
        """Decide the approval `ref` as `by`. Every refusal is a sentence in the reply, never an exception.

        `name` is what they call themselves: it is shown with the identity, and nothing else reads it.
        """
        record = await self.find(ref)
        if isinstance(record, str):
            return _refused(record)
        if record.kind == "question":
            return _refused(_("That is a question. Answer it in its chat, by a button or in words."))
        if record.kind == "batch":
            return await self._decide_batch(record, choice, by, name, reason)
        refusal = await self.refusal(record, choice.value, by)
        if refusal:
            return _refused(refusal)
        if choice is Choice.EDIT:
            return await self._edit(record, by, name, reason)
        if choice.approves and record.quorum > 1:
            return await self._vote(record, choice, by, name)
        status = ApprovalStatus.APPROVED if choice.approves else ApprovalStatus.DENIED
        now = self._clock()
        grant = _grant(record, choice, by, now) if choice in _GRANT_SCOPES else None
        ruling = Ruling(status, str(by), choice.value, now, reason, name=name, grant=grant)
        decided = await self._claim(record, ruling)
        if isinstance(decided, PressReply):
            return Decided(decided)
        if grant is not None:
            await self._note("granted", approval=record.approval_id, grant=grant.grant_id, scope=grant.scope)
        return Decided(PressReply(_(_TAKEN[choice])), decided)

    async def answer(self, ref: str, option: str, by: Identity, *, name: str = "", text: str = "") -> Decided:
        """Answer the question `ref`. Only the person who was asked may. `option` is "" or one offered."""
        record = await self.find(ref)
        if isinstance(record, str):
            return _refused(_("That question is no longer open."))
        refusal = self._question_refusal(record, by)
        if refusal:
            return _refused(refusal)
        if not option.isdecimal() and not text.strip():
            return _refused(_("Write your answer: the next message in this chat counts."))
        ruling = Ruling(ApprovalStatus.APPROVED, str(by), option, self._clock(), text or option, name=name)
        decided = await self._claim(record, ruling)
        if isinstance(decided, PressReply):
            return Decided(decided)
        return Decided(PressReply(_("Thank you.")), decided)

    def _question_refusal(self, record: ApprovalRecord, by: Identity) -> str:
        if str(by) != record.requester:
            return _("Only the person who was asked can answer this.")
        if record.status is not ApprovalStatus.PENDING or self._is_over(record):
            return closed_question(record)
        return ""

    async def close(self, record: ApprovalRecord, status: ApprovalStatus, why: str) -> ApprovalRecord | None:
        """End a request without a person: expired or cancelled. None if somebody decided first."""
        closed = await self._store.approvals.decide(
            record.approval_id, Ruling(status, "", "", self._clock(), why)
        )
        if closed is not None:
            await self._note("approval_closed", approval=record.approval_id, status=status.value, why=why)
        return closed

    async def refusal(self, record: ApprovalRecord, decision: str, by: Identity) -> str:
        """Why this person cannot take this decision now; "" when they can."""
        if record.kind == "question":
            return self._question_refusal(record, by)
        refusal = await self._approvers.refusal(by, record)
        if refusal:
            return refusal
        if record.status is not ApprovalStatus.PENDING:
            return closed_sentence(record)
        if self._is_over(record):
            return _("This request has expired; nothing was run.")
        if decision not in record.offered:
            return _("“{decision}” is not offered for this call. Offered: {offered}.").format(
                decision=decision, offered=listed(record.offered)
            )
        return ""

    async def _decide_batch(
        self, record: ApprovalRecord, choice: Choice, by: Identity, name: str, reason: str
    ) -> Decided:
        """Each call is decided by itself; the card closes last: after a crash it can be pressed again."""
        if person_of(by) != person_of(Identity.parse(record.requester)):
            return _refused(
                _("This list was made for {person}; /approvals makes yours.").format(person=record.requester)
            )
        if record.status is not ApprovalStatus.PENDING:
            return _refused(closed_sentence(record))
        if choice not in OFFERED:
            return _refused(
                _("“{decision}” is not offered for several calls at once.").format(decision=choice.value)
            )
        done: list[ApprovalRecord] = []
        left: list[tuple[str, str]] = []
        for approval_id, digest in members(record):
            current = await self._store.approvals.get(approval_id)
            if current is None or current.digest != digest:
                left.append((approval_id[-6:], _("It is not what was shown.")))
                continue
            decided = await self.decide(approval_id, choice, by, name=name, reason=reason)
            if decided.record is not None:
                done.append(decided.record)
            else:
                left.append((approval_id[-6:], decided.reply.text))
        sentence = batch_sentence(choice, done, left)
        status = ApprovalStatus.APPROVED if choice.approves else ApprovalStatus.DENIED
        ruling = Ruling(
            status if done else ApprovalStatus.CANCELLED,
            str(by),
            choice.value,
            self._clock(),
            sentence,
            name=name,
        )
        closed = await self._store.approvals.decide(record.approval_id, ruling)
        await self._note(
            "batch",
            approval=record.approval_id,
            choice=choice.value,
            by=str(by),
            decided=[each.approval_id for each in done],
        )
        return Decided(PressReply(sentence, ok=bool(done)), closed, tuple(done))

    async def _edit(self, record: ApprovalRecord, by: Identity, name: str, text: str) -> Decided:
        """Another call takes this one's place; what does not fit decides nothing."""
        args = read_edit(request_from_json(record.request_json), text)
        if isinstance(args, EditProblem):
            return _refused(
                _("{problem} Nothing was decided; the request is still open.").format(problem=args.sentence)
            )
        ruling = Ruling(
            ApprovalStatus.EDITED,
            str(by),
            Choice.EDIT.value,
            self._clock(),
            edited_json=json.dumps(args, allow_nan=False),
            name=name,
        )
        decided = await self._claim(record, ruling)
        if isinstance(decided, PressReply):
            return Decided(decided)
        return Decided(PressReply(_("Changed. The new call is judged from the beginning.")), decided)

    async def _vote(self, record: ApprovalRecord, choice: Choice, by: Identity, name: str) -> Decided:
        """One approval of several. Whoever may not decide any more does not count any more."""
        await self._withdraw_lost(record)
        now, person = self._clock(), voter_of(by)
        voted = await self._store.approvals.vote(
            record.approval_id,
            Vote(person, str(by), record.digest, now, name),
            Ruling(ApprovalStatus.APPROVED, str(by), choice.value, now, name=name),
        )
        if voted.record is None or voted.outcome == "closed":
            gone = _("This request is gone.")
            return _refused(closed_sentence(voted.record) if voted.record else gone)
        votes = votes_of(voted.record)
        if voted.outcome == "repeated":
            return _refused(
                _("You already approved this; {missing} more needed.").format(missing=votes.missing)
            )
        await self._note(
            "vote",
            approval=record.approval_id,
            turn=record.turn_id,
            tool=record.tool,
            digest=record.digest,
            by=str(by),
            count=len(votes.approved),
            quorum=record.quorum,
        )
        if voted.outcome == "counted":
            sentence = _("Your approval counts; {missing} more needed before it runs.").format(
                missing=votes.missing
            )
            return Decided(PressReply(sentence), voted.record)
        await self._note_decision(voted.record, choice.value, deciders(voted.record))
        by_whom = escape_line(named_deciders(voted.record))
        return Decided(PressReply(_(_TAKEN_BY_SEVERAL[choice]).format(names=by_whom)), voted.record)

    async def _withdraw_lost(self, record: ApprovalRecord) -> None:
        lost = [v.person for v in record.votes if await self._approvers.refusal(_voter(v), record)]
        if lost:
            await self._store.approvals.withdraw_votes(record.approval_id, frozenset(lost))

    async def _claim(self, record: ApprovalRecord, ruling: Ruling) -> ApprovalRecord | PressReply:
        decided = await self._store.approvals.decide(record.approval_id, ruling)
        if decided is None:
            now = await self._store.approvals.get(record.approval_id)
            return PressReply(closed_sentence(now) if now else _("This request is gone."), ok=False)
        await self._note_decision(record, ruling.decision, ruling.decided_by)
        return decided

    async def _note_decision(self, record: ApprovalRecord, choice: str, by: str) -> None:
        await self._note(
            "decision",
            approval=record.approval_id,
            turn=record.turn_id,
            tool=record.tool,
            digest=record.digest,
            choice=choice,
            by=by,
        )

    async def _note(self, kind: str, **fields: object) -> None:
        """The decision is stored by now and stands; without the gate's own audit row nothing starts on it."""
        try:
            await self._audit.record(kind, **fields)
        except StorageError as error:
            log.error("decision_unaudited", kind=kind, approval=fields.get("approval"), error=str(error))

    def _is_over(self, record: ApprovalRecord) -> bool:
        return record.deadline is not None and record.deadline <= self._clock()


def _grant(record: ApprovalRecord, choice: Choice, by: Identity, now: datetime) -> GrantRecord:
    """What a longer approval remembers: this very call of this requester."""
    return GrantRecord(
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


def _refused(sentence: str) -> Decided:
    return Decided(PressReply(sentence, ok=False))


def _voter(vote: Vote) -> Identity:
    return Identity.parse(vote.voter)


def _ids(records: list[ApprovalRecord]) -> str:
    return listed(record.approval_id for record in records)


def closed_question(record: ApprovalRecord) -> str:
    """Why a question takes no answer any more."""
    match record.status:
        case ApprovalStatus.APPROVED | ApprovalStatus.USED:
            return _("That question was answered already.")
        case ApprovalStatus.CANCELLED:
            return _("That question was cancelled.")
        case _:
            return _("The time to answer that question is over.")


def closed_sentence(record: ApprovalRecord) -> str:
    """Why a request cannot be decided any more, and by whom it was."""
    by = escape_line(named_deciders(record))
    match record.status:
        case ApprovalStatus.APPROVED | ApprovalStatus.USED:
            return _("Already approved by {person}.").format(person=by)
        case ApprovalStatus.DENIED:
            return _("Already denied by {person}.").format(person=by)
        case ApprovalStatus.EDITED:
            return _("Already changed by {person}; the new call is judged by itself.").format(person=by)
        case ApprovalStatus.EXPIRED:
            return _("This request has expired; nothing was run.")
        case ApprovalStatus.CANCELLED:
            return _("This request was cancelled; nothing was run.")
        case ApprovalStatus.PENDING:
            return _("This request is still open.")
