"""From stored records to what the HTTP API shows of them, masked."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, assert_never

from echo_bot.approval.answers import votes_of
from echo_bot.approval.escape import escape_line
from echo_bot.approval.request import Choice
from echo_bot.approval.stored import question_from_json, request_from_json
from echo_bot.events import Card, CardBlock, CodeBlock, Fields, Paragraph
from echo_bot.gateway.api.models import (
    ApprovalDetail,
    ApprovalView,
    AuditView,
    Block,
    GrantView,
    Line,
)
from echo_bot.storage.records import ApprovalRecord, AuditRow, GrantRecord, TranscriptRow

Mask = Callable[[str], str]

_DECISIONS = frozenset({Choice.ONCE, Choice.SESSION, Choice.HOUR, Choice.ALWAYS, Choice.DENY, Choice.EDIT})
"""What can be taken by HTTP; a question's options are answered in words."""


def approval_view(record: ApprovalRecord, mask: Mask, *, may_decide: bool) -> ApprovalView:
    return ApprovalView(**_approval(record, mask), may_decide=may_decide)


def approval_detail(record: ApprovalRecord, card: Card, mask: Mask, *, may_decide: bool) -> ApprovalDetail:
    """The whole card; the arguments only where a person may change them, which nothing secret allows."""
    arguments = None
    if record.kind == "approval" and Choice.EDIT.value in record.offered:
        arguments = dict(request_from_json(record.request_json).args)
    return ApprovalDetail(
        **_approval(record, mask),
        may_decide=may_decide,
        title=card.title,
        blocks=[_block(block) for block in card.blocks],
        text=card.fallback or card.title,
        arguments=arguments,
    )


def _approval(record: ApprovalRecord, mask: Mask) -> dict[str, Any]:
    return {
        "id": record.approval_id,
        "short_id": record.approval_id[-6:],
        "kind": record.kind,
        "status": record.status.value,
        "tool": record.tool,
        "risk": record.risk,
        "requester": record.requester,
        "chat": str(record.address),
        "summary": escape_line(mask(_summary(record))),
        "offered": [each for each in record.offered if each in _DECISIONS],
        "quorum": record.quorum,
        "approved_by": list(votes_of(record).approved) if record.kind == "approval" else [],
        "created_at": record.created_at,
        "deadline": record.deadline,
    }


def _summary(record: ApprovalRecord) -> str:
    """A row of another version still shows its tool."""
    try:
        if record.kind == "question":
            return question_from_json(record.request_json).text
        return request_from_json(record.request_json).summary or record.tool
    except ValueError:
        return record.tool


def _block(block: CardBlock) -> Block:
    match block:
        case Paragraph(text):
            return Block(kind="text", text=text)
        case CodeBlock(text, language, label):
            return Block(kind="code", text=text, language=language, label=label)
        case Fields(rows):
            return Block(kind="fields", rows=list(rows))
        case _:
            assert_never(block)


def grant_view(grant: GrantRecord, mask: Mask) -> GrantView:
    return GrantView(
        id=grant.grant_id,
        owner=grant.owner,
        tool=grant.tool,
        summary=escape_line(mask(grant.summary)),
        scope=grant.scope,
        created_at=grant.created_at,
        created_by=grant.created_by,
        expires_at=grant.expires_at,
        uses=grant.uses,
        last_used_at=grant.last_used_at,
    )


def audit_view(row: AuditRow) -> AuditView:
    fields: dict[str, Any] = json.loads(row.body_json)
    return AuditView(at=row.at, writer=row.writer, seq=row.seq, kind=row.kind, fields=fields, mac=row.mac)


def line_of(row: TranscriptRow) -> Line:
    return Line(role=row.role, text=row.text, sender=row.sender, at=row.at)
