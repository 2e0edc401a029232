"""How a server is, in a line for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from echo_bot.mcp.server import ServerState, ServerStatus
from echo_bot.text.language import N_, Say, english

_MOST_NOTES = 3
_READY_WITH_ONE = N_("ready with {count} tool{more}")
_READY_WITH_MANY = N_("ready with {count} tools{more}")
_STATES = {
    ServerState.NOT_STARTED: N_("not started{more}"),
    ServerState.CONNECTING: N_("connecting{more}"),
    ServerState.FAILED: N_("failed{more}"),
}


def server_line(status: ServerStatus, say: Say = english) -> str:
    ready = _READY_WITH_ONE if status.tools == 1 else _READY_WITH_MANY
    template = _STATES.get(status.state, ready)
    more = ""
    if status.next_try_at is not None:
        more = say(N_(", next try {time}")).format(time=f"{status.next_try_at:%H:%M:%S} UTC")
    line = say(template).format(count=status.tools, more=more)
    if status.reason:
        line = f"{line} – {status.reason}"
    return "; ".join((line, *_notes(status.notes, say)))


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


def _notes(notes: tuple[str, ...], say: Say) -> Iterator[str]:
    yield from notes[:_MOST_NOTES]
    if len(notes) > _MOST_NOTES:
        yield say(N_("and {count} more")).format(count=len(notes) - _MOST_NOTES)
