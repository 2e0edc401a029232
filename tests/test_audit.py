from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echo_bot.audit import Audit, Problem, check_stored, verify
from echo_bot.audit.chain import ANCHOR, OPENED, PRUNED, Seal
from echo_bot.errors import StorageError
from echo_bot.policy.decision import Verdict
from echo_bot.storage.records import AuditHead, AuditRow
from echo_bot.storage.store import SqlStore, open_store, sqlite_url

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
KEY = bytes(range(32))


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    store = await open_store(sqlite_url(tmp_path / "echo-bot.db"))
    yield store
    await store.close()


def mask(text: str) -> str:
    return text.replace("hunter2", "[secret]")


def audit(store: SqlStore, clock: Clock, writer: str = "w1", key: bytes | None = KEY) -> Audit:
    return Audit(store.audit, writer, key, clock, mask=mask)


def edit(store: SqlStore, sql: str) -> None:
    """What somebody with the file does."""
    connection = sqlite3.connect(store.path)
    with connection:
        connection.execute(sql)
    connection.close()


async def broken(store: SqlStore, key: bytes | None = KEY) -> list[str]:
    report = await check_stored(store.audit, key)
    assert report.is_sound is not any(problem.breaks for problem in report.problems)
    return [str(problem) for problem in report.problems if problem.breaks]


async def test_rows_are_chained_masked_and_canonical(store: SqlStore, clock: Clock) -> None:
    writer = audit(store, clock)
    await writer.record("decision", tool="exec", verdict=Verdict.DENY, args={"b": ["hunter2", 1], "a": None})
    opened, row = await store.audit.chain("w1")
    assert (opened.kind, opened.seq, opened.prev) == (OPENED, 1, "")
    assert (row.kind, row.seq, row.prev) == ("decision", 2, opened.mac)
    assert row.body_json == '{"args":{"a":null,"b":["[secret]",1]},"tool":"exec","verdict":"deny"}'
    assert row.mac.startswith("hmac-")


async def test_any_value_can_be_recorded(store: SqlStore, clock: Clock) -> None:
    await audit(store, clock).record(
        "note", when=NOW, path=Path("/a/hunter2"), bad=float("nan"), tags=frozenset({"b", "a"}), n=1.5
    )
    row = (await store.audit.tail(1))[0]
    assert json.loads(row.body_json) == {
        "when": "2026-05-01T12:00:00+00:00",
        "path": "/a/[secret]",
        "bad": "nan",
        "tags": ["a", "b"],
        "n": 1.5,
    }


async def test_simultaneous_records_make_one_sound_chain(store: SqlStore, clock: Clock) -> None:
    writer = audit(store, clock)
    await asyncio.gather(*(writer.record("note", n=n) for n in range(30)))
    assert [row.seq for row in await store.audit.chain("w1")] == list(range(1, 32))
    assert await broken(store) == []


async def test_a_cancelled_record_leaves_a_sound_chain(store: SqlStore, clock: Clock) -> None:
    writer = audit(store, clock)
    await writer.record("note", n=0)
    for number in range(20):
        task = asyncio.create_task(writer.record("note", n=number))
        for _ in range(number % 7):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await writer.record("note", n="last")
    assert await broken(store) == []


async def test_a_process_goes_on_with_its_own_chain(store: SqlStore, clock: Clock) -> None:
    await audit(store, clock).record("note", n=1)
    await audit(store, clock).record("note", n=2)
    assert [row.seq for row in await store.audit.chain("w1")] == [1, 2, 3]
    assert await broken(store) == []


async def test_a_row_that_cannot_be_written_is_an_error(store: SqlStore, clock: Clock) -> None:
    edit(store, "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
    with pytest.raises(StorageError):
        await audit(store, clock).record("note")


async def three_chains(store: SqlStore, clock: Clock, key: bytes | None = KEY) -> None:
    for writer in ("w1", "w2", "w3"):
        chain = audit(store, clock, writer, key)
        for number in range(4):
            await chain.record("note", n=number)


DAMAGE: dict[str, tuple[str, str]] = {
    "a changed body": ("UPDATE audit SET body_json = '{}' WHERE writer = 'w1' AND seq = 3", "w1 row 3"),
    "a changed kind": ("UPDATE audit SET kind = 'other' WHERE writer = 'w1' AND seq = 3", "w1 row 3"),
    "a changed time": ("UPDATE audit SET at = at + 1 WHERE writer = 'w1' AND seq = 3", "w1 row 3"),
    "a row in the middle that is gone": ("DELETE FROM audit WHERE writer = 'w1' AND seq = 3", "w1 row 4"),
    "a beginning that is gone": ("DELETE FROM audit WHERE writer = 'w1' AND seq < 3", "w1 row 3"),
    "two rows that changed places": (
        "UPDATE audit SET seq = CASE seq WHEN 2 THEN -3 ELSE -2 END WHERE writer = 'w1' AND seq IN (2, 3)",
        "w1 row",
    ),
    "a tail that is gone": ("DELETE FROM audit WHERE writer = 'w3' AND seq > 3", "w3 row 5"),
    "a chain that is gone": ("DELETE FROM audit WHERE writer = 'w3'", "w3 row 5"),
    "a row moved to another chain": (
        "UPDATE audit SET writer = 'w9' WHERE writer = 'w3' AND seq = 5",
        "w3 row 5",
    ),
    "a head that is gone": ("DELETE FROM audit_heads WHERE writer = 'w3'", "w3 row 5"),
    "a row emptied to look pruned": (
        f"UPDATE audit SET kind = '{ANCHOR}', body_json = '{{}}' WHERE writer = 'w1' AND seq = 1",
        "w1 row 1",
    ),
    "a row emptied in the middle": (
        f"UPDATE audit SET kind = '{ANCHOR}', body_json = '{{}}' WHERE writer = 'w1' AND seq = 3",
        "w1 row 3",
    ),
}


@pytest.mark.parametrize("key", [None, KEY], ids=["without a key", "with a key"])
@pytest.mark.parametrize(("sql", "where"), DAMAGE.values(), ids=DAMAGE)
async def test_noticed_is(store: SqlStore, clock: Clock, sql: str, where: str, key: bytes | None) -> None:
    await three_chains(store, clock, key)
    assert await broken(store, key) == []
    edit(store, sql)
    if "-3" in sql:
        edit(store, "UPDATE audit SET seq = -seq WHERE seq < 0")
    problems = await broken(store, key)
    assert any(problem.startswith(where) for problem in problems), problems


async def test_a_tail_cut_off_with_its_head_is_noticed_once_a_later_chain_named_it(
    store: SqlStore, clock: Clock
) -> None:
    await three_chains(store, clock)
    edit(store, "DELETE FROM audit WHERE writer = 'w1' AND seq = 5")
    edit(
        store,
        "UPDATE audit_heads SET seq = 4, mac = (SELECT mac FROM audit WHERE writer = 'w1' AND seq = 4) "
        "WHERE writer = 'w1'",
    )
    assert await broken(store) == ["w1 row 5: the rows after 4 are missing; a later chain names it"]


async def test_a_chain_computed_anew_without_the_key_is_noticed(store: SqlStore, clock: Clock) -> None:
    await three_chains(store, clock)
    chains = {writer: await store.audit.chain(writer) for writer in ("w1", "w2", "w3")}
    forged = _computed_anew(chains["w1"])
    heads = (AuditHead("w1", forged[-1].seq, forged[-1].mac, forged[-1].at), *(await store.audit.heads())[1:])
    problems = verify((*forged, *chains["w2"], *chains["w3"]), key=KEY, heads=heads)
    assert [str(problem) for problem in problems] == [
        "w1 row 1: the chain was written without a key: only a careless change would be noticed",
        "w1 row 5: it was replaced; a later chain names another seal",
    ]


def _computed_anew(chain: tuple[AuditRow, ...]) -> tuple[AuditRow, ...]:
    done: list[AuditRow] = []
    for row in chain:
        body = row.body_json if row.kind == OPENED else '{"n":"forged"}'
        linked = replace(row, body_json=body, prev=done[-1].mac if done else "")
        done.append(replace(linked, mac=Seal().mac(linked)))
    return tuple(done)


async def test_a_plain_row_in_a_keyed_chain_is_noticed(store: SqlStore, clock: Clock) -> None:
    await audit(store, clock).record("note", n=1)
    await audit(store, clock, key=None).record("note", n=2)
    assert await broken(store) == ["w1 row 1: the chain's rows are sealed in different ways"]


@pytest.mark.parametrize(
    ("written", "checked", "sentence"),
    [(None, KEY, "without a key"), (KEY, None, "another key"), (bytes(32), KEY, "another key")],
)
async def test_what_limits_the_check_is_told_without_calling_it_broken(
    store: SqlStore, clock: Clock, written: bytes | None, checked: bytes | None, sentence: str
) -> None:
    await audit(store, clock, key=written).record("note", n=1)
    report = await check_stored(store.audit, checked)
    assert report.is_sound
    assert report.problems
    assert all(sentence in str(problem) for problem in report.problems)


async def test_pruning_leaves_sound_chains_and_tells_how_much(store: SqlStore, clock: Clock) -> None:
    await three_chains(store, clock)
    clock.now = NOW + 10 * DAY
    writer = audit(store, clock, "w4")
    await writer.record("note", n=1)
    assert await writer.prune(NOW + 5 * DAY) == 15
    assert await broken(store) == []
    assert [row.kind for row in await store.audit.chain("w1")] == [ANCHOR]
    assert [row.kind for row in await store.audit.chain("w4")] == [OPENED, "note", PRUNED]
    assert await writer.prune(NOW + 5 * DAY) == 0
    clock.now = NOW + 20 * DAY
    await writer.record("note", n=2)
    assert await writer.prune(NOW + 15 * DAY) == 3
    assert await broken(store) == []
    await writer.record("note", n=3)
    assert await broken(store) == []


async def test_an_anchor_that_was_replaced_after_pruning_is_noticed(store: SqlStore, clock: Clock) -> None:
    await three_chains(store, clock)
    clock.now = NOW + 10 * DAY
    await audit(store, clock, "w4").prune(NOW + 5 * DAY)
    assert await broken(store) == []
    edit(store, "UPDATE audit SET mac = 'hmac-0:0' WHERE writer = 'w1'")
    assert any(problem.startswith("w1") for problem in await broken(store))


def test_no_rows_are_no_problem() -> None:
    assert verify(()) == ()


def test_a_lost_chain_is_told_from_its_head_alone() -> None:
    head = AuditHead("w1", 7, "sha256:x", NOW)
    assert verify((), heads=(head,)) == (Problem("w1", 7, "the whole chain is missing; its head names it"),)


async def test_the_report_counts_and_gives_the_newest_head(store: SqlStore, clock: Clock) -> None:
    await three_chains(store, clock)
    report = await check_stored(store.audit, KEY)
    last = (await store.audit.tail(1))[0]
    assert (report.chains, report.rows, report.problems) == (3, 15, ())
    assert report.newest == AuditHead("w3", 5, last.mac, last.at)
