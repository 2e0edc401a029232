from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from echo_bot.events import Address, ApprovalId, EventId, SessionKey, TurnId
from echo_bot.storage.records import (
    ApprovalRecord,
    ApprovalStatus,
    HistoryEntry,
    JournalEntry,
    OutboxRow,
    Ruling,
    TranscriptRow,
    TurnRecord,
    TurnState,
)
from echo_bot.storage.store import SqlStore

NOW = datetime(2026, 1, 10, tzinfo=UTC)
OLD = NOW - timedelta(days=100)
CUT = NOW - timedelta(days=90)
HERE = Address("web", "1")
SESSION = SessionKey("web:1")


def turn(name: str) -> TurnRecord:
    return TurnRecord(TurnId(name), SESSION, EventId(name), "{}", TurnState.QUEUED, OLD)


def approval(name: str) -> ApprovalRecord:
    return ApprovalRecord(
        approval_id=ApprovalId(name),
        turn_id=TurnId("open"),
        session_key=SESSION,
        kind="approval",
        requester="web:local",
        address=HERE,
        tool="exec",
        digest="",
        risk="exec",
        request_json="{}",
        offered=("once",),
        tokens=(f"token-{name}",),
        status=ApprovalStatus.PENDING,
        created_at=OLD,
        timeout_seconds=60,
    )


async def test_closed_rows_are_forgotten_and_open_ones_never(store: SqlStore) -> None:
    for name in ("done", "open"):
        await store.events.claim((name,), turn(name), OLD)
    await store.turns.append(TurnId("done"), JournalEntry("call", "0", "{}"))
    await store.turns.set_state(TurnId("done"), TurnState.DONE)
    for name in ("decided", "pending"):
        await store.approvals.attach(approval(name))
    await store.approvals.decide(
        ApprovalId("decided"), Ruling(ApprovalStatus.DENIED, "web:local", "deny", OLD)
    )
    sent, queued = await store.outbox.put(
        (OutboxRow("a", 0, HERE, "{}", OLD), OutboxRow("b", 0, HERE, "{}", OLD))
    )
    await store.outbox.mark(sent.row_id, "sent")

    assert await store.retention.forget_before(CUT) > 0

    assert await store.turns.get(TurnId("done")) is None
    assert await store.turns.journal(TurnId("done")) == ()
    assert [t.turn_id for t in await store.turns.unfinished()] == ["open"]
    assert [a.approval_id for a in await store.approvals.pending()] == ["pending"]
    assert await store.approvals.by_token("token-decided") is None
    assert [row.row_id for row in await store.outbox.list("queued", 9)] == [queued.row_id]
    assert await store.outbox.list("sent", 9) == ()


async def test_only_older_history_and_transcripts_go(store: SqlStore) -> None:
    for name, at in (("old", OLD), ("new", NOW)):
        await store.sessions.add_history(SESSION, HistoryEntry(TurnId(name), "[]", at))
        await store.sessions.put_transcript(TranscriptRow(name, HERE, "user", name, at))
    await store.retention.forget_before(CUT)
    assert [entry.turn_id for entry in await store.sessions.history(SESSION, 9, OLD)] == ["new"]
    kept = await store.sessions.transcript(HERE, 9)
    assert [replace(row, sender="") for row in kept] == [TranscriptRow("new", HERE, "user", "new", NOW)]
