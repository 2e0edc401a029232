"""How a stored request looks: rendered anew from the row, open or closed."""

from __future__ import annotations

from datetime import tzinfo

from echo_bot.approval.card import render_closed, render_open, render_question
from echo_bot.approval.request import Choice, Outcome
from echo_bot.approval.stored import question_from_json, request_from_json
from echo_bot.events import Card
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus

FREE_ANSWER = "answer"
"""The decision name of a question's button that asks for words; its options are "0", "1", …"""


class StoredFaces:
    """Implements `echo_bot.approval.broker.Faces`."""

    def __init__(self, mask: SecretMask, timezone: tzinfo) -> None:
        self._mask, self._timezone = mask, timezone

    def open(self, record: ApprovalRecord) -> Card:
        if record.kind == "question":
            return self._question(record, "")
        tokens = {Choice(word): token for word, token in _tokens(record).items()}
        request = request_from_json(record.request_json)
        return render_open(request, tokens, self._mask, record.deadline, self._timezone)

    def closed(self, record: ApprovalRecord) -> Card:
        if record.kind == "question":
            return self._question(record, _answer(record))
        return render_closed(
            request_from_json(record.request_json),
            _outcome(record),
            self._mask,
            self._timezone,
            ask_again_token=_tokens(record).get(Choice.ASK_AGAIN.value, ""),
        )

    def _question(self, record: ApprovalRecord, answer: str) -> Card:
        question, tokens = question_from_json(record.request_json), _tokens(record)
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


def _tokens(record: ApprovalRecord) -> dict[str, str]:
    return dict(zip(record.offered, record.tokens, strict=True))


def _answer(record: ApprovalRecord) -> str:
    if record.status is not ApprovalStatus.APPROVED:
        return "no answer"
    options = question_from_json(record.request_json).options
    return options[int(record.decision)] if record.decision.isdigit() else record.answer


def _outcome(record: ApprovalRecord) -> Outcome:
    decided = record.status in (ApprovalStatus.APPROVED, ApprovalStatus.DENIED, ApprovalStatus.USED)
    return Outcome(
        choice=Choice(record.decision) if decided else None,
        by=record.decided_by,
        at=record.decided_at or record.created_at,
        reason=record.answer,
    )
