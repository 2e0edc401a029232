"""`echo-bot status`: what runs, what waits and what is missing. It only reads, and opens no store."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from echo_bot import __version__
from echo_bot.cli.guarded import running_bot
from echo_bot.cli.state import Place, age, config_option, find_place, json_option, utc_now
from echo_bot.storage.peek import Peek, PendingLine, peek

if TYPE_CHECKING:
    from collections.abc import Iterator

    from echo_bot.bus.process import ProcessId

_COLOURS = {"connected": "green", "available": "green", "failed": "red", "retrying": "yellow"}


@dataclass(frozen=True, slots=True)
class Status:
    """Everything `status` knows. `health` is the running bot's own account, empty when none runs."""

    place: Place
    seen: Peek
    bot: ProcessId | None
    health: dict[str, object]
    now: datetime

    @property
    def config_changed(self) -> bool:
        """Was the file of the running bot written after its start? Then a restart is due."""
        path, started = self.health.get("config"), self.health.get("started_at")
        if not (isinstance(path, str) and path and isinstance(started, str)):
            return False
        try:
            written = datetime.fromtimestamp(Path(path).stat().st_mtime, UTC)
            return written > datetime.fromisoformat(started)
        except (OSError, ValueError):
            return True

    def entries(self, name: str) -> list[dict[str, str]]:
        """A list of named things in the bot's account."""
        found = self.health.get(name)
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []

    def text(self, name: str) -> str:
        value = self.health.get(name)
        return value if isinstance(value, str) else ""

    def warnings(self) -> list[str]:
        running = self.health.get("warnings")
        return (
            [str(each) for each in running] if isinstance(running, list) else list(self.place.loaded.warnings)
        )


@click.command()
@config_option
@json_option
def status(config_path: Path | None, as_json: bool) -> None:
    """Show what runs, what waits and what is missing."""
    found = look(find_place(config_path), utc_now())
    click.echo(json.dumps(as_dict(found), ensure_ascii=False) if as_json else "\n".join(as_lines(found)))


def look(place: Place, now: datetime) -> Status:
    """Raises StorageError for a damaged or foreign database."""
    seen = peek(place.database) or Peek()
    bot = running_bot(seen, now)
    health = seen.health if bot is not None and seen.health.get("process", str(bot)) == str(bot) else {}
    return Status(place, seen, bot, health, now)


def as_dict(found: Status) -> dict[str, object]:
    seen = found.seen
    config = found.place.loaded.path
    return {
        "version": __version__,
        "running": found.bot is not None,
        "pid": found.bot.pid if found.bot else None,
        "started_at": found.health.get("started_at"),
        "url": found.text("url"),
        "model": found.text("model"),
        "config": found.text("config") or (str(config) if config else ""),
        "config_changed": found.config_changed,
        "database": str(found.place.database),
        "schema": seen.revision,
        "channels": found.entries("channels"),
        "tools": tools(found),
        "pending_approvals": [_pending_dict(line) for line in seen.pending],
        "turns": seen.turns,
        "dead_letters": seen.dead_letters,
        "unknown_deliveries": seen.unknown_deliveries,
        "grants": seen.grants,
        "paired": seen.paired,
        "stored_credentials": seen.stored_credentials,
        "warnings": found.warnings(),
    }


def tools(found: Status) -> list[dict[str, str]]:
    """Every tool with its state: as the running bot sees it, else what the configuration alone decides."""
    reported = found.entries("tools")
    if reported:
        return reported
    from echo_bot.config.policy import policy_settings
    from echo_bot.tools.registry import Availability, Registry

    settings = policy_settings(found.place.loaded.config, manifests=found.place.manifests)
    rows = []
    for state in Registry(()).states(settings.tools):
        decided = state.state is not Availability.NOT_READY
        name, reason = (
            (state.state.value, state.reason) if decided else ("unknown", "checked when the bot runs")
        )
        rows.append({"name": state.name, "state": name, "reason": reason})
    return rows


def as_lines(found: Status) -> Iterator[str]:
    yield _headline(found)
    config = found.text("config") or found.place.loaded.path
    changed = click.style(" (changed since the start: restart to apply)", fg="yellow")
    yield f"Configuration: {config or 'none, the defaults hold'}{changed if found.config_changed else ''}"
    yield f"Database: {found.place.database}{'' if found.seen.revision else ' (not there yet)'}"
    if found.health:
        yield f"Model: {found.text('model') or 'none (direct calls only)'}"
    for channel in found.entries("channels"):
        yield _channel_line(channel)
    yield f"Open approvals: {len(found.seen.pending)}"
    for line in found.seen.pending:
        yield _pending_line(line, found.now)
    yield from _counts(found.seen)
    yield from _tool_lines(tools(found))
    for warning in found.warnings():
        yield click.style(f"Warning: {warning}", fg="yellow")


def _headline(found: Status) -> str:
    head = f"Echo Bot {__version__}: "
    if found.bot is None:
        return head + click.style("not running", fg="yellow")
    since = found.text("started_at")[:16].replace("T", " ")
    details = [f"process {found.bot.pid}", *([f"since {since} UTC"] if since else [])]
    url = found.text("url")
    running = click.style("running", fg="green")
    return f"{head}{running} ({', '.join(details)}){f' at {url}' if url else ''}"


def _channel_line(channel: dict[str, str]) -> str:
    state = str(channel.get("state", ""))
    parts = [f"Channel {channel.get('name', '?')}: {click.style(state, fg=_COLOURS.get(state))}"]
    for key, words in (("last_event_at", "last event"), ("next_retry_at", "next try")):
        if channel.get(key):
            parts.append(f"{words} {str(channel[key])[:19].replace('T', ' ')}")
    if channel.get("error"):
        parts.append(str(channel["error"]))
    return ", ".join(parts)


def _pending_line(line: PendingLine, now: datetime) -> str:
    left = f", {age(now, line.deadline)} left" if line.deadline else ""
    return (
        f"  {line.approval_id[-6:]}  {line.tool} ({line.risk}), asked by {line.requester} "
        f"{age(line.created_at, now)} ago{left}"
    )


def _counts(seen: Peek) -> Iterator[str]:
    if seen.turns:
        yield "Turns: " + ", ".join(f"{count} {state}" for state, count in sorted(seen.turns.items()))
    if seen.dead_letters:
        yield click.style(f"Undeliverable messages: {seen.dead_letters}", fg="red")
    if seen.unknown_deliveries:
        yield f"Deliveries whose outcome is unknown after a crash: {seen.unknown_deliveries}"


def _tool_lines(rows: list[dict[str, str]]) -> Iterator[str]:
    """The available in one line, every other with its reason."""
    there = [row["name"] for row in rows if row.get("state") == "available"]
    if there:
        yield f"Tools: {', '.join(there)}"
    groups: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.get("state") != "available":
            groups.setdefault((row.get("state", ""), row.get("reason", "")), []).append(row["name"])
    for (state, reason), names in groups.items():
        label = state.replace("_", " ") + (f" ({reason})" if reason else "")
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
