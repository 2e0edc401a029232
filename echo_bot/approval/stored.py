"""Approval requests and questions as JSON in the store, and back."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import TypeAdapter

from echo_bot.approval.request import ApprovalRequest


@dataclass(frozen=True, slots=True)
class Question:
    """A clarify in waiting: what is asked, which answers are offered as buttons, of whom."""

    text: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """Several calls on one card, whole, each with the digest it had when it was shown."""

    requests: tuple[ApprovalRequest, ...]
    digests: tuple[str, ...]


_REQUEST = TypeAdapter(ApprovalRequest)
_BATCH = TypeAdapter(Batch)
_QUESTION = TypeAdapter(Question)


def request_to_json(request: ApprovalRequest) -> str:
    return _REQUEST.dump_json(request).decode()


def request_from_json(text: str) -> ApprovalRequest:
    """Raises ValueError when the text is not one (a row of another version)."""
    return _REQUEST.validate_json(text)


def batch_to_json(batch: Batch) -> str:
    return _BATCH.dump_json(batch).decode()


def batch_from_json(text: str) -> Batch:
    """Raises ValueError when the text is not one."""
    return _BATCH.validate_json(text)


def question_to_json(question: Question) -> str:
    return _QUESTION.dump_json(question).decode()


def question_from_json(text: str) -> Question:
    return _QUESTION.validate_json(text)
