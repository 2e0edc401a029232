"""`echo-bot approvals`: list the open questions and decide them as the local person."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from echo_bot.approval.request import Choice
from echo_bot.cli.guarded import refuse_inside_bot
from echo_bot.cli.state import (
    Place,
    State,
    age,
    config_option,
    find_place,
    is_empty,
    json_option,
    run_with,
    utc_now,
)
from echo_bot.cli.table import print_table
from echo_bot.events import Identity, PressReply

if TYPE_CHECKING:
    from echo_bot.approval.deciding import Decider
    from echo_bot.storage.records import ApprovalRecord

LOCAL = Identity("cli", "local")
SCOPES = tuple(choice.value for choice in Choice if choice.approves)
NEGATIVE = 1


@click.group()
def approvals() -> None:
    """List open questions and decide them."""


@approvals.command("list")
@config_option
@json_option
def list_(config_path: Path | None, as_json: bool) -> None:
    """The open requests, oldest first."""
    place = find_place(config_path)
    refuse_inside_bot(place.database)

    async def read(state: State) -> list[dict[str, object]]:
        return [_row(r, state) for r in await state.store.approvals.pending() if r.kind != "batch"]

    rows = [] if is_empty(place) else run_with(place, read)
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False))
    elif rows:
        print_table(("id", "risk", "age", "left", "asked by", "what"), [_cells(row) for row in rows])
    else:
        click.echo("no open approvals", err=True)


@approvals.command()
@config_option
@click.argument("approval_id", metavar="ID")
@click.argument("scope", type=click.Choice(SCOPES), default=Choice.ONCE.value)
def approve(config_path: Path | None, approval_id: str, scope: str) -> None:
    """Approve a request: this once, for its session, for an hour, or this exact call always."""
    _decide(config_path, approval_id, Choice(scope))


@approvals.command()
@config_option
@click.argument("approval_id", metavar="ID")
@click.argument("reason", nargs=-1)
def deny(config_path: Path | None, approval_id: str, reason: tuple[str, ...]) -> None:
    """Deny a request; the reason is given to the agent."""
    _decide(config_path, approval_id, Choice.DENY, " ".join(reason))


def _decide(config_path: Path | None, approval_id: str, choice: Choice, reason: str = "") -> None:
    place = find_place(config_path)
    refuse_inside_bot(place.database)

    async def decide(state: State) -> PressReply:
        from echo_bot.bus.protocol import DECISIONS_TOPIC

        decided = await _decider(state).decide(approval_id, choice, LOCAL, reason=reason)
        if decided.record is not None:
            await state.bus.notify(DECISIONS_TOPIC, decided.record.approval_id)
        return decided.reply

    if is_empty(place):
        reply = PressReply("No open approval has that id.", ok=False)
    else:
        reply = run_with(place, decide)
    click.echo(reply.text, err=not reply.ok)
    if not reply.ok:
        sys.exit(NEGATIVE)


def _decider(state: State) -> Decider:
    from echo_bot.approval.approvers import Approvers
    from echo_bot.approval.deciding import Decider
    from echo_bot.config.policy import policy_settings

    place: Place = state.place
    settings = policy_settings(place.loaded.config, config_path=place.loaded.path, manifests=place.manifests)
    store = state.store
    approvers = Approvers(settings, store.people, store.sessions, running=frozenset, clock=utc_now)
    return Decider(store, approvers, state.audit, utc_now)


def _row(record: ApprovalRecord, state: State) -> dict[str, object]:
    return {
        "id": record.approval_id,
        "short_id": record.approval_id[-6:],
        "kind": record.kind,
        "tool": record.tool,
        "risk": record.risk,
        "requester": record.requester,
        "chat": str(record.address),
        "summary": _summary(record, state),
        "created_at": record.created_at.isoformat(),
        "deadline": record.deadline.isoformat() if record.deadline else None,
        "offered": list(record.offered),
        "quorum": record.quorum,
        "approved_by": [vote.voter for vote in record.votes],
    }


def _summary(record: ApprovalRecord, state: State) -> str:
    """One masked line; a row of another version still shows its tool."""
    from echo_bot.approval.escape import escape_line
    from echo_bot.approval.stored import question_from_json, request_from_json

    try:
        if record.kind == "question":
            text = question_from_json(record.request_json).text
        else:
            text = request_from_json(record.request_json).summary or record.tool
    except ValueError:
        text = record.tool
    return escape_line(state.mask.mask(text))


def _approved(row: dict[str, object]) -> str:
    """How far a call is that several people must approve."""
    voters = row["approved_by"]
    if row["quorum"] == 1 or not isinstance(voters, list):
        return ""
    names = f": {', '.join(voters)}" if voters else ""
    return f" ({len(voters)} of {row['quorum']} approved{names})"


def _cells(row: dict[str, object]) -> tuple[str, ...]:
    now = utc_now()
    created, deadline = row["created_at"], row["deadline"]
    left = age(now, datetime.fromisoformat(deadline)) if isinstance(deadline, str) else "-"
    return (
        str(row["short_id"]),
        str(row["risk"]),
        age(datetime.fromisoformat(str(created)), now),
        left,
        str(row["requester"]),
        f"{row['summary']}{_approved(row)}",
    )
