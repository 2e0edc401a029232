"""The open requests as a caller may see and decide them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from echo_bot.approval.editing import EditProblem, text_of_arguments
from echo_bot.approval.request import Choice
from echo_bot.approval.stored import request_from_json
from echo_bot.events import ApprovalId, PressReply, TurnId
from echo_bot.gateway.api.failures import ApiFailure
from echo_bot.gateway.api.models import ApprovalDetail, ApprovalView, Decided
from echo_bot.gateway.api.parts import ApiParts
from echo_bot.gateway.api.views import approval_detail, approval_view
from echo_bot.gateway.tokens import Caller
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus

_NOT_THERE = "No open request of yours has that id."
_NOT_YOURS = (
    "You may not decide this: permissions.approval.approvers names others, or somebody else than whoever "
    "asked must decide."
)


class Pending:
    """What waits for a person, for the API's callers."""

    def __init__(self, parts: ApiParts) -> None:
        self._parts = parts

    async def seen_by(self, caller: Caller) -> list[ApprovalView]:
        """An admin sees every call; everybody their own requests and the questions to them."""
        mine = await self._decidable(caller)
        rows = await self._parts.store.approvals.pending()
        return [
            approval_view(row, self._parts.mask, may_decide=row.approval_id in mine)
            for row in rows
            if _may_see(caller, row)
        ]

    async def of_turn(self, caller: Caller, turn_id: TurnId) -> list[ApprovalView]:
        """What one of the caller's own turns waits for."""
        mine = await self._decidable(caller)
        rows = await self._parts.store.approvals.pending()
        return [
            approval_view(row, self._parts.mask, may_decide=row.approval_id in mine)
            for row in rows
            if row.turn_id == turn_id and row.kind != "batch"
        ]

    async def show(self, caller: Caller, approval_id: str) -> ApprovalDetail:
        record = await self._find(caller, approval_id)
        card = self._parts.broker.card(record)
        may = record.approval_id in await self._decidable(caller)
        return approval_detail(record, card, self._parts.mask, may_decide=may)

    async def decide(self, caller: Caller, approval_id: str, choice: Choice, reason: str = "") -> Decided:
        broker = self._parts.broker
        return await self._settle(
            caller,
            approval_id,
            "approval",
            lambda record: broker.decide(record.approval_id, choice, caller.identity, reason=reason),
        )

    async def edit(self, caller: Caller, approval_id: str, arguments: dict[str, Any]) -> Decided:
        record = await self._find(caller, approval_id)
        text: str | EditProblem = ""
        if record.kind == "approval":
            text = text_of_arguments(request_from_json(record.request_json), arguments)
        if isinstance(text, EditProblem):
            raise ApiFailure(422, "invalid", text.sentence)
        return await self.decide(caller, approval_id, Choice.EDIT, text)

    async def answer(self, caller: Caller, approval_id: str, text: str) -> Decided:
        broker = self._parts.broker
        return await self._settle(
            caller,
            approval_id,
            "question",
            lambda record: broker.answer(record.approval_id, caller.identity, text),
        )

    async def _settle(
        self,
        caller: Caller,
        approval_id: str,
        kind: str,
        decide: Callable[[ApprovalRecord], Awaitable[PressReply]],
    ) -> Decided:
        record = await self._find(caller, approval_id)
        if record.kind != kind:
            raise ApiFailure(409, "conflict", f"This is a {record.kind}, not a {kind}.")
        is_open = record.status is ApprovalStatus.PENDING
        if is_open and not await self._parts.broker.may_decide(caller.identity, record):
            raise ApiFailure(403, "forbidden", _NOT_YOURS)
        reply = await decide(record)
        if not reply.ok:
            raise ApiFailure(409, "conflict", reply.text)
        now = await self._parts.store.approvals.get(record.approval_id) or record
        return Decided(message=reply.text, approval=approval_view(now, self._parts.mask, may_decide=False))

    async def _find(self, caller: Caller, approval_id: str) -> ApprovalRecord:
        """By its whole id, or an open one by its short one."""
        approvals = self._parts.store.approvals
        record = await approvals.get(ApprovalId(approval_id))
        if record is None:
            ending = approval_id.lower()
            short = [r for r in await approvals.pending() if r.approval_id[-6:] == ending]
            record = short[0] if len(short) == 1 else None
        if record is None or not _may_see(caller, record):
            raise ApiFailure(404, "not_found", _NOT_THERE)
        return record

    async def _decidable(self, caller: Caller) -> frozenset[str]:
        return frozenset(row.approval_id for row in await self._parts.broker.pending_for(caller.identity))


def _may_see(caller: Caller, record: ApprovalRecord) -> bool:
    if record.kind == "batch":
        return False
    return record.requester == str(caller.identity) or (caller.is_admin and record.kind == "approval")
