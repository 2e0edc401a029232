"""How long the store takes: opening, the write path of one message, decisions, the audit, a peek.

Run it on a quiet machine: `python bench/storage.py`. Figures are milliseconds per operation.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

from echo_bot.audit import Audit
from echo_bot.bus.sqlite import SqliteBus
from echo_bot.events import Address, ApprovalId, EventId, SessionKey, TurnId
from echo_bot.storage.peek import peek
from echo_bot.storage.records import (
    ApprovalRecord,
    ApprovalStatus,
    Ruling,
    TranscriptRow,
    TurnRecord,
    TurnState,
)
from echo_bot.storage.store import SqlStore, open_store, sqlite_url

ROUNDS = 300
CHAT = Address("web", "1")


def now() -> datetime:
    return datetime.now(UTC)


async def measure(name: str, work: Callable[[int], Awaitable[object]], rounds: int = ROUNDS) -> None:
    taken = []
    for number in range(rounds):
        start = time.perf_counter()
        await work(number)
        taken.append((time.perf_counter() - start) * 1000)
    taken.sort()
    print(f"{name:34} median {statistics.median(taken):7.2f}   p95 {taken[int(rounds * 0.95)]:7.2f}")


async def message(store: SqlStore, number: int) -> None:
    """What is written before a message counts as received."""
    turn = TurnRecord(
        TurnId(f"t{number}"), SessionKey("s"), EventId(f"e{number}"), "{}", TurnState.QUEUED, now()
    )
    await store.events.claim((f"e{number}", f"m{number}"), turn, now())
    await store.sessions.put_transcript(TranscriptRow(f"e{number}", CHAT, "user", "hello", now(), "web:1"))


def request(number: int) -> ApprovalRecord:
    return ApprovalRecord(
        approval_id=ApprovalId(f"a{number}"),
        turn_id=TurnId("t0"),
        session_key=SessionKey("s"),
        kind="approval",
        requester="web:1",
        address=CHAT,
        tool="exec",
        digest="d",
        risk="exec",
        request_json="{}",
        offered=("once", "deny"),
        tokens=(f"{number}y", f"{number}n"),
        status=ApprovalStatus.PENDING,
        created_at=now(),
        timeout_seconds=120,
    )


async def decision(store: SqlStore, number: int) -> None:
    approval_id = ApprovalId(f"a{number}")
    await store.approvals.decide(approval_id, Ruling(ApprovalStatus.APPROVED, "web:1", "once", now()))
    await store.approvals.use(approval_id)


async def main(folder: Path) -> None:
    fresh = [folder / f"fresh{number}" / "echo-bot.db" for number in range(10)]

    async def create(number: int) -> None:
        await (await open_store(sqlite_url(fresh[number]))).close()

    await measure("create a store", create, 10)
    await measure("open a store", lambda _: _reopen(fresh[0]), 10)
    store = await open_store(sqlite_url(folder / "echo-bot.db"))
    audit = Audit(store.audit, "bench", None, now, mask=str)
    bus = SqliteBus(store.path, now)
    await bus.open()
    await measure("message: claim, turn, transcript", lambda number: message(store, number))
    await measure("read a turn", lambda number: store.turns.get(TurnId(f"t{number}")))
    await measure("attach an approval", lambda number: store.approvals.attach(request(number)))
    await measure("decide and use", lambda number: decision(store, number))
    await measure("audit row", lambda number: audit.record("decision", n=number))
    await measure("notify", lambda number: bus.notify("t", str(number)))
    start = time.process_time()
    peek(store.path)
    print(f"{'peek, processor time':34}        {(time.process_time() - start) * 1000:7.2f}")
    await bus.close()
    await store.close()


async def _reopen(path: Path) -> None:
    await (await open_store(sqlite_url(path))).close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(main(Path(name)))
