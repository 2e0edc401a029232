from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echo_bot.bus.sqlite import SqliteBus
from echo_bot.errors import StorageError
from echo_bot.events import Address, ApprovalId, EventId, SessionKey, TurnId
from echo_bot.storage.peek import RUNTIME, LeaseLine, Peek, PendingLine, peek
from echo_bot.storage.records import (
    ApprovalRecord,
    ApprovalStatus,
    GrantRecord,
    OutboxRow,
    PairingCode,
    SealedValue,
    TurnRecord,
    TurnState,
)
from echo_bot.storage.sqlite_file import REVISIONS
from echo_bot.storage.store import SqlStore

NOW = datetime(2026, 5, 1, 12, 0, 0, 5, tzinfo=UTC)


def test_where_nothing_is_nothing_is_seen_or_made(tmp_path: Path) -> None:
    assert peek(tmp_path / "none.db") is None
    assert list(tmp_path.iterdir()) == []


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "echo-bot.db"
    path.write_text("not a database, as anybody can see")
    with pytest.raises(StorageError, match="not a SQLite database"):
        peek(path)


async def test_an_empty_store(store: SqlStore, database: Path) -> None:
    assert peek(database) == Peek(revision=REVISIONS[-1])


async def test_everything_a_status_tells(store: SqlStore, database: Path) -> None:
    address = Address("web", "1")
    turn = TurnRecord(TurnId("t1"), SessionKey("s"), EventId("e1"), "{}", TurnState.QUEUED, NOW)
    await store.events.claim(("e1",), turn, NOW)
    record = ApprovalRecord(
        approval_id=ApprovalId("a1"),
        turn_id=TurnId("t1"),
        session_key=SessionKey("s"),
        kind="approval",
        requester="web:1",
        address=address,
        tool="exec",
        digest="d",
        risk="exec",
        request_json="{}",
        offered=(),
        tokens=(),
        status=ApprovalStatus.PENDING,
        created_at=NOW,
        timeout_seconds=120,
        deadline=NOW + timedelta(minutes=2),
    )
    await store.approvals.attach(record)
    (row,) = await store.outbox.put((OutboxRow("t1", 0, address, "{}", NOW),))
    await store.outbox.mark(row.row_id, "dead")
    await store.grants.add(GrantRecord("g", "web:1", "d", "exec", "ls", "always", NOW, "web:1"))
    await store.people.add_code(PairingCode("c", ("chat",), NOW + timedelta(1)))
    await store.people.redeem("c", "telegram:1", NOW)
    await store.sealed.put(SealedValue("channel:telegram", "token", "k", b"n", b"c", NOW))
    await store.values.put(RUNTIME, "health", json.dumps({"pid": 1}))
    bus = SqliteBus(database, lambda: NOW)
    await bus.open()
    await bus.lease("bot", "somebody", 15)
    await bus.close()

    seen = peek(database)

    assert seen == Peek(
        revision=REVISIONS[-1],
        pending=(PendingLine("a1", "exec", "exec", "web:1", NOW, NOW + timedelta(minutes=2)),),
        turns={"queued": 1},
        dead_letters=1,
        grants=1,
        paired=1,
        stored_credentials=1,
        runtime={"health": '{"pid": 1}'},
        bot=LeaseLine("somebody", NOW + timedelta(seconds=15)),
    )
    assert seen.health == {"pid": 1}


@pytest.mark.parametrize("text", ["{", "[]", "7"])
def test_a_health_note_that_cannot_be_read_is_an_empty_one(text: str) -> None:
    assert Peek(runtime={"health": text}).health == {}


def test_peeking_imports_neither_sqlalchemy_nor_aiosqlite() -> None:
    program = (
        "import sys, echo_bot.storage.peek\n"
        "assert not {'sqlalchemy', 'aiosqlite', 'alembic'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
