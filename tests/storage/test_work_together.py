"""What waits for a connection is committed together, and is to nobody's harm."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, event

from echo_bot.errors import StorageError
from echo_bot.storage.database import Lane, Work
from echo_bot.storage.dialect import sqlite_engine


class Refused(Exception):
    pass


def put(key: int, *, then_refuse: bool = False) -> Work[int]:
    def work(connection: Connection) -> int:
        connection.exec_driver_sql("INSERT INTO kept VALUES (?)", (key,))
        if then_refuse:
            raise Refused
        return key

    return work


class Recorded:
    """A lane over a fresh table, and how often it committed."""

    def __init__(self, path: Path) -> None:
        self.path, self.commits = path, 0
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS kept (key INTEGER PRIMARY KEY)")
            connection.execute("DELETE FROM kept")
        engine = sqlite_engine(path, writes=True)
        event.listen(engine, "commit", self._count)
        self.lane = Lane(engine)

    def _count(self, _: Connection) -> None:
        self.commits += 1

    def kept(self) -> list[int]:
        with sqlite3.connect(self.path) as connection:
            return [key for (key,) in connection.execute("SELECT key FROM kept ORDER BY key")]

    async def outcomes(self, works: list[tuple[int, bool]]) -> list[object]:
        ran = (self.lane.run(put(key, then_refuse=refuse)) for key, refuse in works)
        return list(await asyncio.gather(*ran, return_exceptions=True))


@pytest.fixture
async def recorded(tmp_path: Path) -> AsyncIterator[Recorded]:
    recorded = Recorded(tmp_path / "lane.db")
    yield recorded
    await recorded.lane.close()


async def test_what_comes_while_one_is_written_is_committed_with_one_commit(recorded: Recorded) -> None:
    assert await recorded.outcomes([(key, False) for key in range(40)]) == list(range(40))
    assert recorded.kept() == list(range(40))
    assert recorded.commits == 2


async def test_one_that_fails_takes_nothing_of_the_others_along(recorded: Recorded) -> None:
    first, second, refused, again, last = await recorded.outcomes(
        [(1, False), (2, False), (3, True), (2, False), (4, False)]
    )
    assert (first, second, last) == (1, 2, 4)
    assert isinstance(refused, Refused)
    assert isinstance(again, StorageError)
    assert recorded.kept() == [1, 2, 4]


async def test_when_nothing_can_be_written_everybody_is_told(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("echo_bot.storage.dialect._PRAGMAS", ("PRAGMA busy_timeout = 50",))
    other = sqlite3.connect(recorded.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    outcomes = await recorded.outcomes([(key, False) for key in range(5)])
    assert [type(outcome) for outcome in outcomes] == [StorageError] * 5
    other.execute("ROLLBACK")
    other.close()
    assert await recorded.outcomes([(7, False)]) == [7]
    assert recorded.kept() == [7]


async def test_what_a_cancelled_caller_asked_for_is_done_with_the_rest(recorded: Recorded) -> None:
    tasks = [asyncio.create_task(recorded.lane.run(put(key))) for key in range(5)]
    await asyncio.sleep(0)
    tasks[2].cancel()
    await asyncio.wait(tasks)
    await recorded.lane.close()
    assert recorded.kept() == [0, 1, 2, 3, 4]


@given(works=st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=30))
@settings(max_examples=40, deadline=None)
def test_together_is_as_one_after_the_other(
    works: list[tuple[int, bool]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    expected: set[int] = set()
    wanted: list[type] = []
    for key, refuse in works:
        wanted.append(StorageError if key in expected else Refused if refuse else int)
        if wanted[-1] is int:
            expected.add(key)

    async def run() -> None:
        recorded = Recorded(tmp_path_factory.getbasetemp() / "together.db")
        outcomes = await recorded.outcomes(works)
        await recorded.lane.close()
        assert [type(outcome) for outcome in outcomes] == wanted
        assert recorded.kept() == sorted(expected)

    asyncio.run(run())
