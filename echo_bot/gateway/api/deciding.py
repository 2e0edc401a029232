"""Endpoints of approvals and grants."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from echo_bot.approval.request import Choice
from echo_bot.gateway.api.endpoints import CallerHere, router
from echo_bot.gateway.api.failures import ApiFailure
from echo_bot.gateway.api.models import (
    AnswerQuestion,
    ApprovalDetail,
    ApprovalView,
    Approve,
    Decided,
    Deny,
    Edit,
    GrantView,
    Revoked,
)
from echo_bot.gateway.api.parts import ApiParts
from echo_bot.gateway.api.pending import Pending
from echo_bot.gateway.api.views import grant_view

ApprovalRef = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{4,64}$")]
_NO_GRANT = "There is no remembered approval with that id."


def asking(parts: ApiParts) -> APIRouter:
    """What every caller sees: their own requests, and the questions to them."""
    routes, pending = router("approvals"), Pending(parts)

    @routes.get("/approvals")
    async def list_approvals(caller: CallerHere) -> list[ApprovalView]:
        """The open requests, oldest first: yours; with an admin token everybody's."""
        return await pending.seen_by(caller)

    @routes.get("/approvals/{approval_id}")
    async def show_approval(approval_id: ApprovalRef, caller: CallerHere) -> ApprovalDetail:
        """One request, whole, as its card shows it."""
        return await pending.show(caller, approval_id)

    @routes.post("/approvals/{approval_id}/answer")
    async def answer_question(
        approval_id: ApprovalRef, answer: AnswerQuestion, caller: CallerHere
    ) -> Decided:
        """Answer a question that the agent asked you."""
        return await pending.answer(caller, approval_id, answer.text)

    @routes.get("/grants")
    async def list_grants(caller: CallerHere) -> list[GrantView]:
        """The remembered approvals, oldest first: yours; with an admin token everybody's."""
        owner = None if caller.is_admin else str(caller.identity)
        grants = await parts.store.grants.list(owner, parts.clock())
        return [grant_view(grant, parts.mask) for grant in grants]

    return routes


def deciding(parts: ApiParts) -> APIRouter:
    """For admin tokens: each decision is that of api:<name>, by the rules for everybody."""
    routes, pending = router("approvals", admin=True), Pending(parts)

    @routes.post("/approvals/{approval_id}/approve")
    async def approve(approval_id: ApprovalRef, wanted: Approve, caller: CallerHere) -> Decided:
        """Approve a call: this once, for its session, for an hour, or this exact call always."""
        return await pending.decide(caller, approval_id, Choice(wanted.scope))

    @routes.post("/approvals/{approval_id}/deny")
    async def deny(approval_id: ApprovalRef, wanted: Deny, caller: CallerHere) -> Decided:
        """Deny a call."""
        return await pending.decide(caller, approval_id, Choice.DENY, wanted.reason)

    @routes.post("/approvals/{approval_id}/edit")
    async def edit(approval_id: ApprovalRef, wanted: Edit, caller: CallerHere) -> Decided:
        """Put another call in its place; that one is judged from the beginning."""
        return await pending.edit(caller, approval_id, wanted.arguments)

    @routes.delete("/grants/{grant_id}")
    async def revoke_grant(
        grant_id: Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")], caller: CallerHere
    ) -> Revoked:
        """Forget a remembered approval: the next such call asks again."""
        if not await parts.store.grants.revoke(grant_id):
            raise ApiFailure(404, "not_found", _NO_GRANT)
        await parts.audit.record("grant_revoked", grant=grant_id, by=str(caller.identity))
        return Revoked(id=grant_id)

    return routes
