"""How a stored request looks: rendered anew from the row, open or closed."""

from __future__ import annotations

from datetime import tzinfo

from echo_bot.approval.card import render_closed, render_open, render_question
from echo_bot.approval.request import Choice, Outcome
from echo_bot.approval.stored import question_from_json, request_from_json
from echo_bot.events import Card
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.storage.protocol import ApprovalRecord, ApprovalStatus


class StoredFaces:
    """Implements `echo_bot.approval.broker.Faces`."""

    def __init__(self, mask: SecretMask, timezone: tzinfo) -> None:
        self._mask, self._timezone = mask, timezone

    def open(self, record: ApprovalRecord) -> Card:
        if record.kind == "question":
            return self._question(record, None)
        tokens = {Choice(word): token for word, token in zip(record.offered, record.tokens, strict=True)}
        request = request_from_json(record.request_json)
        return render_open(request, tokens, self._mask, record.deadline, self._timezone)

    def closed(self, record: ApprovalRecord) -> Card:
        if record.kind == "question":
            return self._question(record, _outcome(record))
        tokens = {Choice(word): token for word, token in zip(record.offered, record.tokens, strict=True)}
        request = request_from_json(record.request_json)
        return render_closed(request, _outcome(record), tokens, self._mask, self._timezone)

    def _question(self, record: ApprovalRecord, outcome: Outcome | None) -> Card:
        question = question_from_json(record.request_json)
        tokens = dict(zip(record.offered, record.tokens, strict=True))
        return render_question(
            record.approval_id,
            question.text,
            question.options,
            tokens,
            self._mask,
            record.deadline,
            self._timezone,
            outcome=outcome,
        )


def _outcome(record: ApprovalRecord) -> Outcome:
    decided = record.status in (ApprovalStatus.APPROVED, ApprovalStatus.DENIED, ApprovalStatus.USED)
    is_choice = decided and record.kind == "approval"
    return Outcome(
        choice=Choice(record.decision) if is_choice else None,
        by=record.decided_by,
        at=record.decided_at or record.created_at,
        reason=record.answer,
    )
