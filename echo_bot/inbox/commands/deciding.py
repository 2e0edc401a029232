"""Open approvals and remembered ones: /approvals, /approve, /deny, /grants, /revoke."""

from __future__ import annotations

from echo_bot.approval.answers import votes_of
from echo_bot.approval.names import named
from echo_bot.approval.request import Choice
from echo_bot.approval.stored import request_from_json
from echo_bot.inbox.commands.desk import Desk, Request
from echo_bot.inbox.commands.words import first_word, literal
from echo_bot.storage.records import ApprovalRecord, GrantRecord
from echo_bot.text.language import _, listed

_SCOPES = {c.value: c for c in (Choice.ONCE, Choice.SESSION, Choice.HOUR, Choice.ALWAYS)}


async def list_approvals(request: Request, desk: Desk) -> str:
    pending = await desk.broker.pending_for(request.sender)
    records = [record for record in pending if record.kind == "approval"]
    if not records:
        return _("No open approvals that you may decide.")
    lines = [
        _("{id} {summary}, asked by {person}").format(
            id=literal(r.approval_id[-6:]),
            summary=literal(desk.mask(summary_of(r))),
            person=literal(desk.mask(requester_of(r))),
        )
        + _votes(r)
        for r in records
    ]
    batch = await desk.broker.offer_batch(request.sender, request.event.address, records)
    return (
        _("Open approvals:")
        + "\n\n"
        + "\n".join(lines)
        + "\n\n"
        + _("`/approve <id>` or `/deny <id> [reason]` decides one.")
        + (f" {batch}" if batch else "")
    )


async def approve(request: Request, desk: Desk) -> str:
    ref, scope = first_word(request.rest)
    scope = scope.lower()
    if not ref:
        return _("Write: `/approve <id> [once|session|1h|always]`. `/approvals` lists the open ids.")
    choice = _SCOPES.get(scope or Choice.ONCE.value)
    if choice is None:
        told = _("{scope} is not a scope. Use one of: {scopes}. Nothing was decided.")
        return told.format(scope=literal(scope), scopes=listed(_SCOPES))
    return (await desk.broker.decide(ref, choice, request.sender, name=request.name)).text


async def deny(request: Request, desk: Desk) -> str:
    ref, reason = first_word(request.rest)
    if not ref:
        return _("Write: `/deny <id> [reason]`. `/approvals` lists the open ids.")
    by, name = request.sender, request.name
    return (await desk.broker.decide(ref, Choice.DENY, by, name=name, reason=reason)).text


async def list_grants(request: Request, desk: Desk) -> str:
    grants = await desk.store.grants.list(str(request.sender), desk.clock())
    if not grants:
        return _("No approvals are remembered for you.")
    return (
        _("Remembered for you:")
        + "\n\n"
        + "\n".join(_grant_line(g) for g in grants)
        + "\n\n"
        + _("`/revoke <id>` forgets one.")
    )


async def revoke(request: Request, desk: Desk) -> str:
    if not request.rest.strip():
        return _("Write: `/revoke <id>`. `/grants` lists the ids.")
    mine = await desk.store.grants.list(str(request.sender), desk.clock())
    found = next((g for g in mine if g.grant_id == request.rest.strip()), None)
    if found is None and await desk.overview.is_admin(request.sender):
        everyone = await desk.store.grants.list(None, desk.clock())
        found = next((g for g in everyone if g.grant_id == request.rest.strip()), None)
    if found is None or not await desk.store.grants.revoke(found.grant_id):
        return _("No remembered approval of yours has that id. `/grants` lists them.")
    return _("Forgotten: {summary}").format(summary=literal(found.summary))


def summary_of(record: ApprovalRecord) -> str:
    return request_from_json(record.request_json).summary


def requester_of(record: ApprovalRecord) -> str:
    return named(record.requester, request_from_json(record.request_json).requester_name)


def _votes(record: ApprovalRecord) -> str:
    """How far a call is that several people must approve."""
    if record.quorum <= 1:
        return ""
    count = len(votes_of(record).approved)
    return _(" ({count} of {quorum} approved)").format(count=count, quorum=record.quorum)


def _grant_line(grant: GrantRecord) -> str:
    until = _(" until {time}").format(time=f"{grant.expires_at:%H:%M} UTC") if grant.expires_at else ""
    return _("{id} {summary} – {scope}{until}, used {count}×").format(
        id=literal(grant.grant_id),
        summary=literal(grant.summary),
        scope=grant.scope,
        until=until,
        count=grant.uses,
    )
