"""`echo-bot grants`: list the remembered approvals and revoke them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from echo_bot.called import command
from echo_bot.cli.guarded import refuse_inside_bot
from echo_bot.cli.state import State, age, config_option, find_place, is_empty, json_option, run_with, utc_now
from echo_bot.cli.table import print_table

if TYPE_CHECKING:
    from echo_bot.storage.records import GrantRecord

NEGATIVE = 1


@click.group()
def grants() -> None:
    """List and revoke remembered approvals."""


@grants.command("list")
@config_option
@json_option
@click.option("--owner", help="Only those of one person, as channel:id.")
def list_(config_path: Path | None, as_json: bool, owner: str | None) -> None:
    """The live grants, oldest first."""
    place = find_place(config_path)
    refuse_inside_bot(place.database)

    async def read(state: State) -> list[tuple[GrantRecord, str]]:
        from echo_bot.approval.escape import escape_line

        found = await state.store.grants.list(owner, utc_now())
        return [(grant, escape_line(state.mask.mask(grant.summary))) for grant in found]

    found = [] if is_empty(place) else run_with(place, read)
    if as_json:
        click.echo(json.dumps([_row(grant, summary) for grant, summary in found], ensure_ascii=False))
    elif found:
        print_table(
            ("id", "owner", "scope", "left", "uses", "call"), [_cells(grant, text) for grant, text in found]
        )
    else:
        click.echo("no remembered approvals", err=True)


@grants.command()
@config_option
@click.argument("grant_id", metavar="ID")
def revoke(config_path: Path | None, grant_id: str) -> None:
    """Forget one; the next such call asks again."""
    place = find_place(config_path)
    refuse_inside_bot(place.database)

    async def forget(state: State) -> bool:
        if not await state.store.grants.revoke(grant_id):
            return False
        await state.audit.record("grant_revoked", grant=grant_id, by="cli:local")
        return True

    if is_empty(place) or not run_with(place, forget):
        click.echo(f"there is no grant {grant_id}; `{command('grants list')}` shows them", err=True)
        sys.exit(NEGATIVE)
    click.echo(f"revoked {grant_id}")


def _row(grant: GrantRecord, summary: str) -> dict[str, object]:
    return {
        "id": grant.grant_id,
        "owner": grant.owner,
        "tool": grant.tool,
        "summary": summary,
        "scope": grant.scope,
        "created_at": grant.created_at.isoformat(),
        "created_by": grant.created_by,
        "expires_at": grant.expires_at.isoformat() if grant.expires_at else None,
        "uses": grant.uses,
        "last_used_at": grant.last_used_at.isoformat() if grant.last_used_at else None,
    }


def _cells(grant: GrantRecord, summary: str) -> tuple[str, ...]:
    left = age(utc_now(), grant.expires_at) if grant.expires_at else "-"
    return (grant.grant_id, grant.owner, grant.scope, left, str(grant.uses), summary)
