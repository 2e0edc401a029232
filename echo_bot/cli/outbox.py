"""`echo-bot outbox`: messages that wait or could not be delivered; try them again or drop them."""

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
    from echo_bot.storage.records import OutboxRow, OutboxState

NEGATIVE = 1
_MOST = 1000
_SHOWN_CHARS = 60


@click.group(invoke_without_command=True)
@click.pass_context
def outbox(ctx: click.Context) -> None:
    """Messages that wait or could not be delivered."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_, config_path=None, as_json=False, every=False)


@outbox.command("list")
@config_option
@json_option
@click.option("--all", "every", is_flag=True, help="Also those that still wait.")
def list_(config_path: Path | None, as_json: bool, every: bool) -> None:
    """The undeliverable ones, oldest first."""
    place = find_place(config_path)
    refuse_inside_bot(place.database)
    states: tuple[OutboxState, ...] = ("dead", "unknown", "sending", "queued") if every else ("dead",)

    async def read(state: State) -> list[tuple[OutboxRow, str]]:
        from echo_bot.approval.escape import escape_line

        found = [row for each in states for row in await state.store.outbox.list(each, _MOST)]
        found.sort(key=lambda row: row.row_id)
        return [(row, escape_line(state.mask.mask(_words(row)))) for row in found]

    found = [] if is_empty(place) else run_with(place, read)
    if as_json:
        click.echo(json.dumps([_row(row, words) for row, words in found], ensure_ascii=False))
    elif found:
        headings = ("id", "to", "state", "since", "tries", "why", "message")
        print_table(headings, [_cells(row, words) for row, words in found])
    else:
        click.echo("nothing waits" if every else "no undeliverable messages", err=True)


@outbox.command()
@config_option
@click.argument("ids", metavar="ID… | all", nargs=-1, required=True)
def retry(config_path: Path | None, ids: tuple[str, ...]) -> None:
    """Send undeliverable messages again; a running bot begins within seconds."""
    _change(config_path, ids, "retry")


@outbox.command()
@config_option
@click.argument("ids", metavar="ID… | all", nargs=-1, required=True)
def drop(config_path: Path | None, ids: tuple[str, ...]) -> None:
    """Give undeliverable messages up for good."""
    _change(config_path, ids, "drop")


def _change(config_path: Path | None, ids: tuple[str, ...], what: str) -> None:
    place = find_place(config_path)
    refuse_inside_bot(place.database)

    async def change(state: State) -> tuple[list[int], list[str]]:
        dead = [row.row_id for row in await state.store.outbox.list("dead", _MOST)]
        wanted = dead if ids == ("all",) else [int(each) for each in ids if each.isdecimal()]
        changed = []
        for row_id in wanted:
            store = state.store.outbox
            if await (store.revive(row_id, utc_now()) if what == "retry" else store.drop(row_id)):
                await state.audit.record(f"outbox_{what}", row=row_id, by="cli:local")
                changed.append(row_id)
        done = {str(row_id) for row_id in changed}
        return changed, [] if ids == ("all",) else [each for each in ids if each not in done]

    changed, missing = ([], list(ids)) if is_empty(place) else run_with(place, change)
    verb = "queued again" if what == "retry" else "dropped"
    for row_id in changed:
        click.echo(f"{verb}: {row_id}")
    for each in missing:
        hint = f"`{command('outbox list')}` shows them"
        click.echo(f"there is no undeliverable message {each}; {hint}", err=True)
    if missing or not changed:
        if not missing:
            click.echo("no undeliverable messages", err=True)
        sys.exit(NEGATIVE)


def _words(row: OutboxRow) -> str:
    from echo_bot.delivery.body import Body

    body = Body.from_json(row.body_json)
    return body.text if body.kind == "text" else f"[file] {body.name}"


def _row(row: OutboxRow, words: str) -> dict[str, object]:
    return {
        "id": row.row_id,
        "to": str(row.address),
        "state": row.state,
        "created_at": row.created_at.isoformat(),
        "tries": row.tries,
        "error": row.error,
        "message": words,
    }


def _cells(row: OutboxRow, words: str) -> tuple[str, ...]:
    shown = words if len(words) <= _SHOWN_CHARS else words[: _SHOWN_CHARS - 1] + "…"
    since = age(row.created_at, utc_now())
    return str(row.row_id), str(row.address), row.state, since, str(row.tries), row.error, shown
