"""How a stored request looks: rendered anew from the row, open or closed."""

from __future__ import annotations

from datetime import datetime, tzinfo

from echo_bot.approval.answers import named_deciders, named_votes
from echo_bot.approval.batch_card import render_batch, render_closed_batch
from echo_bot.approval.card import (
    prompt_of,
    render_closed,
    render_open,
    render_question,
    shown_line,
    time_words,
)
from echo_bot.approval.editing import edit_text
from echo_bot.approval.escape import escape_lines
from echo_bot.approval.request import Choice, Outcome
from echo_bot.approval.stored import batch_from_json, question_from_json, request_from_json
from echo_bot.approval.words import Words
from echo_bot.channel import Prompt
from echo_bot.events import Card, CardState
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus
from echo_bot.text.language import _

FREE_ANSWER = "answer"
"""The decision name of a question's button that asks for words; its options are "0", "1", …"""

_BY_PERSON = frozenset(
    {ApprovalStatus.APPROVED, ApprovalStatus.DENIED, ApprovalStatus.USED, ApprovalStatus.EDITED}
)
_BATCH_STATES = {
    ApprovalStatus.APPROVED: CardState.APPROVED,
    ApprovalStatus.DENIED: CardState.DENIED,
}


class StoredFaces:
    """Implements `echo_bot.approval.broker.Faces`."""

    def __init__(self, mask: SecretMask, timezone: tzinfo) -> None:
        self._mask, self._timezone = mask, timezone

    def open(self, record: ApprovalRecord) -> Card:
        if record.kind == "question":
            return self._question(record, "")
        tokens = {Choice(word): token for word, token in tokens_of(record).items()}
        mask, timezone = self._mask, self._timezone
        if record.kind == "batch":
            calls = batch_from_json(record.request_json).requests
            return render_batch(record.approval_id, calls, tokens, mask, record.deadline, timezone)
        request = request_from_json(record.request_json)
        return render_open(request, tokens, mask, record.deadline, timezone, approved=named_votes(record))

    def closed(self, record: ApprovalRecord) -> Card:
        if record.kind == "question":
            return self._question(record, _answer(record))
        if record.kind == "batch":
            return self._closed_batch(record)
        return render_closed(
            request_from_json(record.request_json),
            _outcome(record),
            self._mask,
            self._timezone,
            ask_again_token=tokens_of(record).get(Choice.ASK_AGAIN.value, ""),
        )

    def time(self, moment: datetime) -> str:
        """A time as cards show it."""
        return time_words(moment, self._timezone)

    def prompt(self, record: ApprovalRecord, decision: str) -> Prompt | None:
        """What a button asks for; None for one that needs no words."""
        if record.kind == "question":
            question = question_from_json(record.request_json).text
            asked = escape_lines(self._mask.mask(question))
            return Prompt(asked, title=Words.question) if decision == FREE_ANSWER else None
        choice = Choice(decision)
        asked = prompt_of(choice)
        if not asked or record.kind != "approval":
            return None
        if choice is not Choice.EDIT:
            return Prompt(asked, title=choice.label)
        request = request_from_json(record.request_json)
        title = Words.edit_title.format(tool=shown_line(request.tool, self._mask))
        return Prompt(asked, initial=edit_text(request), title=title)

    def _closed_batch(self, record: ApprovalRecord) -> Card:
        at = self.time(record.decided_at or record.created_at)
        by = shown_line(named_deciders(record), self._mask)
        return render_closed_batch(
            record.approval_id,
            batch_from_json(record.request_json).requests,
            self._mask,
            state=_BATCH_STATES.get(record.status, CardState.CLOSED),
            verdict=Words.batch_decided.format(by=by, at=at) if by else Words.batch_closed.format(at=at),
            outcome=_(record.answer),
        )

    def _question(self, record: ApprovalRecord, answer: str) -> Card:
        question, tokens = question_from_json(record.request_json), tokens_of(record)
        return render_question(
            record.approval_id,
            question.text,
            tuple((text, tokens[str(index)]) for index, text in enumerate(question.options)),
            self._mask,
            free_answer_token=tokens[FREE_ANSWER],
            deadline=record.deadline,
            timezone=self._timezone,
            answer=answer,
        )


def tokens_of(record: ApprovalRecord) -> dict[str, str]:
    """The token of each decision on offer."""
    return dict(zip(record.offered, record.tokens, strict=True))


def _answer(record: ApprovalRecord) -> str:
    if record.status is not ApprovalStatus.APPROVED:
        return _("no answer")
    options = question_from_json(record.request_json).options
    return options[int(record.decision)] if record.decision.isdigit() else record.answer


def _outcome(record: ApprovalRecord) -> Outcome:
    return Outcome(
        choice=Choice(record.decision) if record.status in _BY_PERSON else None,
        by=named_deciders(record),
        at=record.decided_at or record.created_at,
        reason=_reason(record),
        is_cancelled=record.status is ApprovalStatus.CANCELLED,
    )


def _reason(record: ApprovalRecord) -> str:
    """A person's own words, or ours; of an expired card the verdict says it already."""
    if record.status is ApprovalStatus.EXPIRED:
        return ""
    return record.answer if record.status in _BY_PERSON else _(record.answer)
