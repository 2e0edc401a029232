"""A quick look at a store for `status`: read-only, the standard library alone, no migration."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from echo_bot.storage.pauses import EVERYWHERE, PAUSED, Pause
from echo_bot.storage.sqlite_file import check_ours, read_only, read_revision

RUNTIME = "runtime"
"""The scope of Values in which the running bot says who and how it is."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class PendingLine:
    """One open request, as far as a status line needs it."""

    approval_id: str
    tool: str
    risk: str
    requester: str
    created_at: datetime
    deadline: datetime | None


@dataclass(frozen=True, slots=True)
class LeaseLine:
    """Who holds the data folder. `holder` is the text that the holder gave."""

    holder: str
    expires_at: datetime

    @property
    def is_released(self) -> bool:
        """Given up by its holder, rather than run out."""
        return self.expires_at == _EPOCH


@dataclass(frozen=True, slots=True)
class Peek:
    """What a store holds at one moment. `runtime` values are as the bot wrote them.

    `paused` is the pause of everything, `paused_sessions` counts those that are paused by themselves.
    """

    revision: str = ""
    pending: tuple[PendingLine, ...] = ()
    turns: dict[str, int] = field(default_factory=dict)
    dead_letters: int = 0
    unknown_deliveries: int = 0
    grants: int = 0
    paired: int = 0
    stored_credentials: int = 0
    runtime: dict[str, str] = field(default_factory=dict)
    bot: LeaseLine | None = None
    paused: Pause | None = None
    paused_sessions: int = 0
    jobs: dict[str, int] = field(default_factory=dict)
    failing_jobs: int = 0

    @property
    def health(self) -> dict[str, object]:
        """The bot's own account of itself; empty when there is none that can be read."""
        try:
            found = json.loads(self.runtime.get("health", "{}"))
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


def peek(path: Path) -> Peek | None:
    """None when there is no store yet. Raises StorageError for a damaged or foreign file."""
    if not path.exists() or path.stat().st_size == 0:
        return None
    check_ours(path)
    with read_only(path) as connection:
        connection.execute("BEGIN")
        revision = read_revision(connection)
        return Peek() if revision is None else _look(connection, revision)


def _look(connection: sqlite3.Connection, revision: str) -> Peek:
    outbox = _counts(
        connection, "SELECT state, count(*) FROM outbox WHERE state IN ('dead', 'unknown') GROUP BY state"
    )
    pauses = _values(connection, PAUSED)
    has_jobs = revision >= "0003"
    return Peek(
        revision=revision,
        pending=_pending(connection),
        turns=_counts(connection, "SELECT state, count(*) FROM turns GROUP BY state"),
        dead_letters=outbox.get("dead", 0),
        unknown_deliveries=outbox.get("unknown", 0),
        grants=_number(connection, "SELECT count(*) FROM grants"),
        paired=_number(connection, "SELECT count(*) FROM paired_senders"),
        stored_credentials=_number(connection, "SELECT count(*) FROM sealed"),
        runtime=_values(connection, RUNTIME),
        bot=_bot(connection),
        paused=Pause.from_json(pauses[EVERYWHERE]) if EVERYWHERE in pauses else None,
        paused_sessions=len(pauses.keys() - {EVERYWHERE}),
        jobs=_counts(connection, "SELECT state, count(*) FROM jobs GROUP BY state") if has_jobs else {},
        failing_jobs=_number(connection, "SELECT count(*) FROM jobs WHERE failures > 0") if has_jobs else 0,
    )


def _pending(connection: sqlite3.Connection) -> tuple[PendingLine, ...]:
    rows = connection.execute(
        "SELECT approval_id, tool, risk, requester, created_at, deadline FROM approvals "
        "WHERE status = 'pending' AND kind != 'batch' ORDER BY created_at, approval_id"
    )
    return tuple(
        PendingLine(approval_id, tool, risk, requester, _time(created), None if end is None else _time(end))
        for approval_id, tool, risk, requester, created, end in rows
    )


def _bot(connection: sqlite3.Connection) -> LeaseLine | None:
    row = connection.execute("SELECT holder, expires_at FROM leases WHERE name = 'bot'").fetchone()
    return None if row is None else LeaseLine(row[0], _time(row[1]))


def _values(connection: sqlite3.Connection, scope: str) -> dict[str, str]:
    return dict(connection.execute("SELECT key, value FROM kept_values WHERE scope = ?", (scope,)))


def _counts(connection: sqlite3.Connection, query: str) -> dict[str, int]:
    return dict(connection.execute(query))


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


def _time(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)
