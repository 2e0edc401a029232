"""`echo-bot status`: what runs, what waits and what is missing, for people and as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import click

from echo_bot import __version__
from echo_bot.called import command
from echo_bot.cli.looking import Status, look
from echo_bot.cli.sight import MUTE, Sight
from echo_bot.cli.state import age, config_option, json_option, utc_now
from echo_bot.storage.peek import Peek, PendingLine

_COLOURS = {"connected": "green", "available": "green", "failed": "red", "retrying": "yellow"}
_STATES = {"disabled": "switched off by", "filtered": "filtered by", "not_ready": "not ready:"}


@click.command()
@config_option
@json_option
def status(config_path: Path | None, as_json: bool) -> None:
    """Show what runs, what waits and what is missing.

    Exit code 0, also while no bot runs (the first line and "running" in the JSON say so); 2 for a
    configuration that a start would refuse and for a database that cannot be read.
    """
    found = look(config_path, os.environ, utc_now())
    click.echo(json.dumps(as_dict(found), ensure_ascii=False) if as_json else "\n".join(as_lines(found)))


def as_dict(found: Status) -> dict[str, object]:
    sight, seen = found.sight, found.sight.seen
    return {
        "version": __version__,
        "running": sight.bot is not None,
        "pid": sight.bot.pid if sight.bot else None,
        "started_at": sight.account.get("started_at"),
        "told_at": sight.account.get("at"),
        "url": sight.text("url"),
        "model": sight.text("model"),
        "configured_model": found.tools.configured_model,
        "models_today": sight.account.get("models_today") if sight.bot else None,
        "workspace": sight.text("workspace"),
        "config": found.config,
        "config_changed": found.config_changed,
        "config_refusal": found.refusal,
        "database": str(sight.database),
        "schema": seen.revision,
        "channels": found.channels,
        "mcp_servers": found.mcp_servers,
        "tools": found.tools.rows,
        "pending_approvals": [_pending_dict(line) for line in seen.pending],
        "turns": seen.turns,
        "paused": _paused_dict(seen),
        "dead_letters": seen.dead_letters,
        "unknown_deliveries": seen.unknown_deliveries,
        "jobs": seen.jobs,
        "failing_jobs": seen.failing_jobs,
        "grants": seen.grants,
        "paired": seen.paired,
        "stored_credentials": seen.stored_credentials,
        "warnings": found.tools.warnings,
        "warnings_at_last_start": found.tools.is_remembered,
    }


def as_lines(found: Status) -> Iterator[str]:
    sight = found.sight
    yield _headline(sight)
    if sight.silence(found.now):
        told = f"It has told nothing of itself for {age(datetime.fromisoformat(sight.text('at')), found.now)}"
        yield click.style(f"{told}: {MUTE}", fg="red")
    yield from _config_lines(found)
    yield f"Database: {sight.database}{'' if sight.seen.revision else ' (not there yet)'}"
    yield f"Model: {_model(found)}"
    yield from _model_usage(sight)
    for channel in found.channels:
        yield _channel_line(channel)
    yield from _paused(sight.seen)
    for server in found.mcp_servers:
        yield f"MCP server {server.get('name', '?')}: {server.get('line', '')}"
    yield f"Open approvals: {len(sight.seen.pending)}"
    for line in sight.seen.pending:
        yield _pending_line(line, found.now)
    yield from _counts(sight.seen)
    yield from _tool_lines(found.tools.rows)
    label = "Warning (at the last start)" if found.tools.is_remembered else "Warning"
    for warning in found.tools.warnings:
        yield click.style(f"{label}: {warning}", fg="yellow")


def _model(found: Status) -> str:
    """The one in use, or while no bot runs the configured one."""
    used, configured = found.sight.text("model"), found.tools.configured_model
    if used or not configured:
        return used or "none (direct calls only)"
    return f"none, {configured} cannot be used (direct calls only)" if found.sight.account else configured


def _model_usage(sight: Sight) -> Iterator[str]:
    """Of the running bot, which knows when its day begins."""
    used = sight.account.get("models_today") if sight.bot else None
    if isinstance(used, dict) and (used.get("answers") or used.get("recordings")):
        yield f"Models today: {used.get('line', '')}"


def _headline(sight: Sight) -> str:
    head = f"Echo Bot {__version__}: "
    if sight.bot is None:
        return head + click.style("not running", fg="yellow")
    since = sight.text("started_at")[:16].replace("T", " ")
    details = [f"process {sight.bot.pid}", *([f"since {since} UTC"] if since else [])]
    url = sight.text("url")
    running = click.style("running", fg="green")
    return f"{head}{running} ({', '.join(details)}){f' at {url}' if url else ''}"


def _config_lines(found: Status) -> Iterator[str]:
    line = f"Configuration: {found.config or 'none, the defaults hold'}"
    if not found.config_changed:
        yield line
        return
    yield line + click.style(" (changed since the start: restart to apply)", fg="yellow")
    if found.refusal:
        yield click.style(f"A restart would refuse it: {found.refusal}", fg="red")


def _channel_line(channel: dict[str, str]) -> str:
    state = str(channel.get("state", ""))
    parts = [f"Channel {channel.get('name', '?')}: {click.style(state, fg=_COLOURS.get(state))}"]
    for key, words in (("last_event_at", "last event"), ("next_retry_at", "next try")):
        if channel.get(key):
            parts.append(f"{words} {str(channel[key])[:19].replace('T', ' ')} UTC")
    if channel.get("called_at"):
        parts.append(f"called at {channel['called_at']}")
    if channel.get("error"):
        parts.append(str(channel["error"]))
    return ", ".join(parts)


def _pending_line(line: PendingLine, now: datetime) -> str:
    left = f", {age(now, line.deadline)} left" if line.deadline else ""
    return (
        f"  {line.approval_id[-6:]}  {line.tool} ({line.risk}), asked by {line.requester} "
        f"{age(line.created_at, now)} ago{left}"
    )


def _paused(seen: Peek) -> Iterator[str]:
    if seen.paused:
        lifts = f"`{command('resume')}` lets it go on"
        yield click.style(f"Paused everywhere {seen.paused}", fg="yellow") + f" ({lifts})"
    if seen.paused_sessions:
        yield f"Chats paused by themselves: {seen.paused_sessions}"


def _paused_dict(seen: Peek) -> dict[str, object]:
    return {
        "everywhere": seen.paused is not None,
        "since": seen.paused.at.isoformat() if seen.paused else None,
        "by": seen.paused.by if seen.paused else None,
        "chats": seen.paused_sessions,
    }


def _counts(seen: Peek) -> Iterator[str]:
    if seen.turns:
        yield "Turns: " + ", ".join(f"{count} {state}" for state, count in sorted(seen.turns.items()))
    if seen.jobs:
        counted = ", ".join(f"{count} {state}" for state, count in sorted(seen.jobs.items()))
        failing = f"; {seen.failing_jobs} failed when they last ran" if seen.failing_jobs else ""
        yield f"Jobs: {counted}{failing} (`{command('jobs list')}` shows them)"
    if seen.dead_letters:
        shown = f"(`{command('outbox list')}` shows them)"
        yield click.style(f"Undeliverable messages: {seen.dead_letters}", fg="red") + f" {shown}"
    if seen.unknown_deliveries:
        yield f"Deliveries whose outcome is unknown after a crash: {seen.unknown_deliveries}"


def _tool_lines(rows: list[dict[str, str]]) -> Iterator[str]:
    """The available in one line, then the others by what takes them away."""
    there = [row["name"] for row in rows if row.get("state") == "available"]
    if there:
        yield f"Tools: {', '.join(there)}"
    groups: dict[str, list[str]] = {}
    for row in rows:
        state = row.get("state", "")
        if state != "available":
            label = f"{_STATES.get(state, state)} {row.get('reason', '')}".rstrip()
            groups.setdefault(label, []).append(row["name"])
    for label, names in groups.items():
        yield f"Tools {label}: {', '.join(names)}"


def _pending_dict(line: PendingLine) -> dict[str, str | None]:
    return {
        "id": line.approval_id,
        "short_id": line.approval_id[-6:],
        "tool": line.tool,
        "risk": line.risk,
        "requester": line.requester,
        "created_at": line.created_at.isoformat(),
        "deadline": line.deadline.isoformat() if line.deadline else None,
    }
