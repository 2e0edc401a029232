"""`echo-bot mcp`: what MCP servers say of their tools, and which of it is approved."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from echo_bot.called import command
from echo_bot.cli.guarded import refuse_inside_bot
from echo_bot.cli.state import (
    Place,
    State,
    config_option,
    find_place,
    is_empty,
    json_option,
    run_with,
    utc_now,
)

if TYPE_CHECKING:
    from echo_bot.mcp.offered import Offered
    from echo_bot.storage.mcp_records import McpDefinitionRecord

NEGATIVE = 1
BY = "cli:local"


@click.group()
def mcp() -> None:
    """List the tools of MCP servers; approve their definitions or take that back."""


@mcp.command("list")
@config_option
@json_option
@click.argument("server", required=False)
@click.option("--full", is_flag=True, help="Whole definitions, as the servers wrote them last.")
def list_(config_path: Path | None, as_json: bool, server: str | None, full: bool) -> None:
    """The tools that the servers listed last, and how their definitions stand."""
    place = find_place(config_path)
    refuse_inside_bot(place.database)

    async def read(state: State) -> tuple[McpDefinitionRecord, ...]:
        return await state.store.mcp.list(server)

    records = () if is_empty(place) else run_with(place, read)
    rows = [_row(record, offered) for record, offered in _standing(place, records)]
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False))
        return
    for row in rows:
        click.echo("\n".join(_lines(row, full=full)))
    if not rows:
        click.echo(_nothing_listed(place, server), err=True)


@mcp.command()
@config_option
@click.argument("server")
@click.argument("tool", required=False)
def pin(config_path: Path | None, server: str, tool: str | None) -> None:
    """Approve what a server says of a tool now, or of all its tools. Read it first: list --full."""
    place = find_place(config_path)
    refuse_inside_bot(place.database)

    async def approve(state: State) -> list[str]:
        found = [each for each in await state.store.mcp.list(server) if tool in (None, each.tool)]
        pinned = []
        for each in found:
            if not each.is_pinned and await state.store.mcp.pin(
                server, each.tool, each.seen_digest, BY, utc_now()
            ):
                await state.audit.record(
                    "mcp_pinned", server=server, tool=each.tool, digest=each.seen_digest, by=BY
                )
            pinned.append(f"{each.tool} ({each.seen_digest[:12]})")
        await _tell(state)
        return pinned

    names = [] if is_empty(place) else run_with(place, approve)
    _answer(names, f"pinned {', '.join(map(_shown, names))}", server, tool)


@mcp.command()
@config_option
@click.argument("server")
@click.argument("tool", required=False)
def unpin(config_path: Path | None, server: str, tool: str | None) -> None:
    """Forget the approval of a tool's definition, or of all of a server's: the next call asks."""
    place = find_place(config_path)
    refuse_inside_bot(place.database)

    async def forget(state: State) -> int:
        count = await state.store.mcp.unpin(server, tool)
        if count:
            await state.audit.record("mcp_unpinned", server=server, tool=tool or "*", by=BY)
            await _tell(state)
        return count

    count = 0 if is_empty(place) else run_with(place, forget)
    _answer(count, f"unpinned {count} tool{'' if count == 1 else 's'} of {server}", server, tool)


def _nothing_listed(place: Place, server: str | None) -> str:
    servers = place.loaded.config.tools.mcp_servers
    if not servers:
        return "no MCP server is configured: tools.mcp_servers names them"
    if server is not None and server not in servers:
        return (
            f"there is no MCP server {server!r} in tools.mcp_servers; there are: {', '.join(sorted(servers))}"
        )
    return "no MCP server listed a tool yet; the bot asks them when it runs"


def _answer(done: object, sentence: str, server: str, tool: str | None) -> None:
    if done:
        click.echo(sentence)
        return
    what = f"no tool {tool!r} of a server {server!r}" if tool else f"no tool of a server {server!r}"
    click.echo(f"{what} is known so; `{command('mcp list')}` shows them", err=True)
    sys.exit(NEGATIVE)


async def _tell(state: State) -> None:
    from echo_bot.bus.protocol import PINS_TOPIC

    await state.bus.notify(PINS_TOPIC)


def _standing(
    place: Place, records: tuple[McpDefinitionRecord, ...]
) -> Iterator[tuple[McpDefinitionRecord, Offered | None]]:
    """Each with how it stands, None for a server or a tool that the configuration does not want."""
    from echo_bot.app.mcp import known_tools
    from echo_bot.mcp.names import prefix_of

    known = [each.offered for each in known_tools(place.loaded.config, records).values()]
    for record in records:
        prefix = prefix_of(record.server)
        mine = (
            each for each in known if each.name.startswith(prefix) and each.definition.name == record.tool
        )
        yield record, next(mine, None)


def _row(record: McpDefinitionRecord, offered: Offered | None) -> dict[str, object]:
    state, why = "not configured", ""
    if offered is not None:
        standing = offered.standing
        state = "withheld" if standing.withheld else "asks" if standing.changed else "pinned"
        why = standing.withheld or standing.changed
    return {
        "server": record.server,
        "tool": record.tool,
        "name": offered.name if offered else "",
        "state": state,
        "why": why,
        "digest": record.seen_digest,
        "seen_at": record.seen_at.isoformat(),
        "pinned_digest": record.pinned_digest,
        "pinned_by": record.pinned_by,
        "pinned_at": record.pinned_at.isoformat() if record.pinned_at else None,
        "definition": record.seen,
    }


def _lines(row: dict[str, object], *, full: bool) -> Iterator[str]:
    by = f", pinned by {row['pinned_by']}" if row["pinned_by"] else ""
    yield _shown(f"{row['server']} {row['tool']}: {row['state']} ({str(row['digest'])[:12]}{by})")
    if row["why"]:
        yield f"  {_shown(str(row['why']))}"
    if full:
        _, description, schema = json.loads(str(row["definition"]))
        yield from (f"  | {_shown(line)}" for line in str(description).splitlines())
        yield from (f"  | {_shown(line)}" for line in json.dumps(schema, indent=2).splitlines())


def _shown(text: str) -> str:
    from echo_bot.approval.escape import escape_line

    return escape_line(text)
