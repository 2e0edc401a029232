from __future__ import annotations

import asyncio
import random
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from echo_bot.errors import StorageError
from echo_bot.storage.store import SqlStore, open_store, sqlite_url

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)

WRITER = """
import asyncio, sys
from datetime import UTC, datetime
from echo_bot.events import EventId, SessionKey, TurnId
from echo_bot.storage.records import TurnRecord, TurnState
from echo_bot.storage.store import open_store

async def main(url: str) -> None:
    store = await open_store(url)
    now = datetime.now(UTC)
    for n in range(100_000):
        turn = TurnRecord(TurnId(f"t{n}"), SessionKey("s"), EventId(f"e{n}"), "{}", TurnState.QUEUED, now)
        await store.events.claim((f"e{n}", f"m{n}"), turn, now)
        print(n, flush=True)

asyncio.run(main(sys.argv[1]))
"""


async def test_nothing_that_was_confirmed_is_lost_to_a_kill(database: Path) -> None:
    confirmed = await asyncio.to_thread(_write_until_killed, sqlite_url(database), 40)
    store = await open_store(sqlite_url(database))
    turns = await store.turns.unfinished()
    assert [turn.turn_id for turn in turns[: confirmed + 1]] == [f"t{n}" for n in range(confirmed + 1)]
    # One more may have been committed before its confirmation was printed, and it has both of its ids.
    assert len(turns) in (confirmed + 1, confirmed + 2)
    for number in range(len(turns)):
        assert not await store.events.claim((f"m{number}",), None, NOW)
    assert await store.events.claim((f"m{len(turns)}",), None, NOW)
    await store.close()


def _write_until_killed(url: str, lines: int) -> int:
    with subprocess.Popen([sys.executable, "-c", WRITER, url], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(lines):
            process.stdout.readline()
        process.kill()
        rest = process.stdout.read().split()
    return int(rest[-1]) if rest else lines - 1


async def test_cancelled_callers_leave_whole_transactions_and_a_working_store(store: SqlStore) -> None:
    random.seed(7)
    tasks = [
        asyncio.create_task(store.events.claim((f"a{number}", f"b{number}"), None, NOW))
        for number in range(60)
    ]
    for task in random.sample(tasks, 40):
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await store.values.put("after", "all", "fine")
    for number in range(60):
        first = await store.events.claim((f"a{number}",), None, NOW)
        second = await store.events.claim((f"b{number}",), None, NOW)
        assert first is second


async def test_closing_waits_for_what_runs(database: Path) -> None:
    store = await open_store(sqlite_url(database))
    tasks = [asyncio.create_task(store.values.put("s", str(number), "v")) for number in range(20)]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*tasks)
    again = await open_store(sqlite_url(database))
    assert len(await again.values.list("s")) == 20
    await again.close()


async def test_a_closed_store_refuses_and_closes_again(database: Path) -> None:
    store = await open_store(sqlite_url(database))
    await store.close()
    await store.close()
    with pytest.raises(StorageError, match="closed"):
        await store.values.get("a", "b")
    with pytest.raises(StorageError, match="closed"):
        await store.values.put("a", "b", "c")


async def test_a_lock_that_is_held_too_long_is_a_sentence_and_passes(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("echo_bot.storage.dialect._PRAGMAS", ("PRAGMA busy_timeout = 50",))
    store = await open_store(sqlite_url(database))
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="Another program holds the database"):
        await store.values.put("a", "b", "c")
    other.execute("ROLLBACK")
    other.close()
    await store.values.put("a", "b", "c")
    await store.close()


async def test_errors_do_not_repeat_what_people_wrote(store: SqlStore) -> None:
    await store.logins.add_link("hash", "web:secret-person", NOW)
    with pytest.raises(StorageError) as refusal:
        await store.logins.add_link("hash", "web:secret-person", NOW)
    assert "secret-person" not in str(refusal.value)


async def test_reading_does_not_wait_for_a_writer(store: SqlStore, database: Path) -> None:
    await store.values.put("a", "b", "c")
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.execute("UPDATE kept_values SET value = 'half'")
    assert await asyncio.wait_for(store.values.get("a", "b"), timeout=5) == "c"
    other.execute("ROLLBACK")
    other.close()
