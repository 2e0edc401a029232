from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echo_bot.bus.protocol import Lease, Signal, Subscription
from echo_bot.bus.sqlite import SqliteBus
from echo_bot.errors import StorageError
from echo_bot.storage.store import open_store, sqlite_url


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 5, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def database(tmp_path: Path) -> Path:
    path = tmp_path / "echo-bot.db"
    await (await open_store(sqlite_url(path))).close()
    return path


@pytest.fixture
async def bus(database: Path, clock: Clock) -> AsyncIterator[SqliteBus]:
    async with opened(database, clock) as bus:
        yield bus


@pytest.fixture
async def other(database: Path, clock: Clock) -> AsyncIterator[SqliteBus]:
    """The bus of another process."""
    async with opened(database, clock) as bus:
        yield bus


@contextlib.asynccontextmanager
async def opened(database: Path, clock: Clock) -> AsyncIterator[SqliteBus]:
    bus = SqliteBus(database, clock, poll_seconds=0.02)
    await bus.open()
    yield bus
    await bus.close()


async def next_of(subscription: Subscription) -> Signal:
    async with asyncio.timeout(5):
        async for signal in subscription:
            return signal
    raise AssertionError("the subscription ended")


async def test_a_signal_is_heard_in_its_own_process_at_once_and_once(bus: SqliteBus) -> None:
    heard = bus.subscribe("decided")
    await bus.notify("decided", "a1")
    await bus.notify("decided", "a2")
    assert await next_of(heard) == Signal("decided", "a1")
    assert await next_of(heard) == Signal("decided", "a2")


async def test_a_signal_of_another_process_is_heard_in_order(bus: SqliteBus, other: SqliteBus) -> None:
    heard = bus.subscribe("decided")
    for number in range(5):
        await other.notify("decided", str(number))
    assert [(await next_of(heard)).payload for _ in range(5)] == ["0", "1", "2", "3", "4"]


async def test_only_the_topics_asked_for_are_heard(bus: SqliteBus, other: SqliteBus) -> None:
    heard = bus.subscribe("paired", "decided")
    await other.notify("health", "x")
    await other.notify("paired")
    assert await next_of(heard) == Signal("paired")


async def test_what_was_said_before_opening_is_not_heard(
    database: Path, clock: Clock, bus: SqliteBus
) -> None:
    await bus.notify("decided", "before")
    async with opened(database, clock) as late:
        heard = late.subscribe("decided")
        await bus.notify("decided", "after")
        assert (await next_of(heard)).payload == "after"


async def test_two_listeners_both_hear(bus: SqliteBus) -> None:
    one, two = bus.subscribe("t"), bus.subscribe("t")
    await bus.notify("t", "x")
    assert await next_of(one) == await next_of(two) == Signal("t", "x")


async def test_closing_ends_the_waiting(bus: SqliteBus) -> None:
    heard = bus.subscribe("t")
    waiting = asyncio.create_task(_collect(heard))
    await bus.notify("t", "x")
    await bus.close()
    assert await asyncio.wait_for(waiting, 20) == [Signal("t", "x")]
    heard.close()


async def _collect(subscription: Subscription) -> list[Signal]:
    return [signal async for signal in subscription]


async def test_a_listener_that_falls_behind_keeps_the_newest(bus: SqliteBus) -> None:
    heard = bus.subscribe("t")
    for number in range(1100):
        bus._subscribers.tell(Signal("t", str(number)))
    assert (await next_of(heard)).payload == "100"


async def test_old_signals_are_dropped(bus: SqliteBus, database: Path, clock: Clock) -> None:
    for _ in range(3):
        await bus.notify("t")
    clock.advance(3600)
    await bus.notify("t")
    connection = sqlite3.connect(database)
    assert connection.execute("SELECT count(*) FROM signals").fetchone() == (1,)
    connection.close()


async def test_the_poller_outlives_a_database_that_refuses(
    bus: SqliteBus, other: SqliteBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = bus.subscribe("t")
    refused = asyncio.Event()
    hear = bus._hear

    async def refuse_once() -> None:
        if not refused.is_set():
            refused.set()
            raise StorageError("busy")
        await hear()

    monkeypatch.setattr(bus, "_hear", refuse_once)
    await asyncio.wait_for(refused.wait(), 20)
    await other.notify("t", "x")
    assert (await next_of(heard)).payload == "x"


async def test_a_bus_needs_the_tables_of_the_store(tmp_path: Path, clock: Clock) -> None:
    for name in ("none.db", "empty.db"):
        path = tmp_path / name
        if name == "empty.db":
            path.touch()
        with pytest.raises(StorageError, match="Open the store first"):
            await SqliteBus(path, clock).open()
    assert not (tmp_path / "none.db").exists()


async def test_a_bus_that_is_not_open_says_so(database: Path, clock: Clock) -> None:
    with pytest.raises(StorageError, match="not open"):
        await SqliteBus(database, clock).notify("t")


async def test_a_lease_is_held_by_one_until_it_runs_out(
    bus: SqliteBus, other: SqliteBus, clock: Clock
) -> None:
    assert await bus.lease("poller", "one", 10) == 1
    assert await other.lease("poller", "two", 10) is None
    assert await bus.lease("poller", "one", 10) is None
    assert await other.holder("poller") == Lease("poller", "one", 1, clock.now + timedelta(seconds=10))
    clock.advance(10)
    assert await other.holder("poller") is None
    assert await other.lease("poller", "two", 10) == 2
    assert not await bus.renew("poller", 1, 10)
    assert not await bus.release("poller", 1)


async def test_a_renewed_lease_lasts(bus: SqliteBus, other: SqliteBus, clock: Clock) -> None:
    token = await bus.lease("poller", "one", 10)
    assert token is not None
    for _ in range(5):
        clock.advance(8)
        assert await bus.renew("poller", token, 10)
        assert await other.lease("poller", "two", 10) is None


async def test_a_late_holder_goes_on_if_nobody_took_over(bus: SqliteBus, clock: Clock) -> None:
    token = await bus.lease("poller", "one", 10)
    assert token is not None
    clock.advance(60)
    assert await bus.renew("poller", token, 10)


async def test_a_released_lease_is_free_and_its_token_never_comes_back(
    bus: SqliteBus, other: SqliteBus
) -> None:
    token = await bus.lease("poller", "one", 10)
    assert token is not None
    assert await bus.release("poller", token)
    assert not await bus.release("poller", token)
    assert not await bus.renew("poller", token, 10)
    assert await other.lease("poller", "two", 10) == token + 1


async def test_of_many_that_ask_at_once_one_gets_the_lease(bus: SqliteBus, other: SqliteBus) -> None:
    answers = await asyncio.gather(
        *(side.lease("poller", str(n), 10) for n in range(10) for side in (bus, other))
    )
    assert [answer for answer in answers if answer is not None] == [1]
