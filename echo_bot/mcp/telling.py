"""How a server is, in a line for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from echo_bot.mcp.server import ServerState, ServerStatus

_MOST_NOTES = 3


def server_line(status: ServerStatus) -> str:
    parts = [status.state.value]
    if status.state is ServerState.READY:
        parts = [f"ready with {status.tools} tool{'' if status.tools == 1 else 's'}"]
    if status.next_try_at is not None:
        parts.append(f"next try {status.next_try_at:%H:%M:%S} UTC")
    line = ", ".join(parts)
    if status.reason:
        line = f"{line} – {status.reason}"
    return "; ".join((line, *_notes(status.notes)))


def server_json(status: ServerStatus) -> dict[str, object]:
    return {
        "name": status.name,
        "state": status.state.value,
        "tools": status.tools,
        "reason": status.reason,
        "next_try_at": status.next_try_at.isoformat() if status.next_try_at else "",
        "notes": list(status.notes),
        "line": server_line(status),
    }


def _notes(notes: tuple[str, ...]) -> Iterator[str]:
    yield from notes[:_MOST_NOTES]
    if len(notes) > _MOST_NOTES:
        yield f"and {len(notes) - _MOST_NOTES} more"
