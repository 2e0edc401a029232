"""Queues of sessions when a chat's key changes: nothing is lost, nothing overtakes, one turn at a time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

from echo_bot.events import EventId, SessionKey, TurnId
from echo_bot.session import SessionQueues
from echo_bot.storage.records import TurnRecord, TurnState
from echo_bot.testing.waiting import eventually

OLD, NEW = SessionKey("telegram:-1"), SessionKey("telegram:-2")
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def turn(name: str, key: SessionKey) -> TurnRecord:
    return TurnRecord(TurnId(name), key, EventId(name), "{}", TurnState.QUEUED, NOW)


def renamed(waiting: TurnRecord, key: SessionKey) -> TurnRecord:
    return replace(waiting, session_key=key)


class Line:
    """Runs turns; each ends when `let_go` has its name."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, str]] = []
        self.let_go: set[str] = set()
        self.held: set[SessionKey] = set()
        self.queues = SessionQueues(self.run, self.held.__contains__)

    async def run(self, record: TurnRecord) -> None:
        self.begun.append((record.turn_id, record.session_key))
        while record.turn_id not in self.let_go:
            await asyncio.sleep(0)

    async def wait_for(self, *names: str) -> None:
        await eventually(lambda: [name for name, _ in self.begun] == list(names), f"{names} to have begun")


async def test_what_waits_goes_on_under_the_new_key_after_what_runs() -> None:
    line = Line()
    for name in ("a", "b"):
        line.queues.submit(turn(name, OLD))
    await line.wait_for("a")
    line.queues.rename(OLD, NEW, renamed)
    line.queues.submit(turn("c", NEW))
    assert line.queues.current(OLD) is None
    assert [each.turn_id for each in line.queues.waiting(NEW)] == ["b", "c"]
    line.let_go |= {"a", "b", "c"}
    await eventually(lambda: len(line.begun) == 3, "all of them")
    assert line.begun == [("a", OLD), ("b", NEW), ("c", NEW)]
    await eventually(lambda: line.queues.total() == (0, 0), "nothing to be left")


async def test_the_old_ones_come_before_those_of_a_queue_that_is_there() -> None:
    line = Line()
    line.held.add(OLD)
    line.queues.submit(turn("a", OLD))
    line.queues.submit(turn("b", NEW))
    line.queues.submit(turn("c", NEW))
    await line.wait_for("b")
    line.queues.rename(OLD, NEW, renamed)
    assert [each.turn_id for each in line.queues.waiting(NEW)] == ["a", "c"]
    line.let_go |= {"a", "b", "c"}
    await line.wait_for("b", "a", "c")


async def test_sessions_of_threads_and_senders_go_along_and_other_chats_stay() -> None:
    line = Line()
    keys = [SessionKey(f"{OLD}:7"), SessionKey(f"{OLD}:7:ann"), SessionKey(f"{OLD}0")]
    for number, key in enumerate(keys):
        line.queues.submit(turn(str(number), key))
    await line.wait_for("0", "1", "2")
    line.queues.rename(OLD, NEW, renamed)
    assert [line.queues.current(key) is not None for key in keys] == [False, False, True]
    assert line.queues.current(SessionKey(f"{NEW}:7:ann")) is not None
    line.let_go |= {"0", "1", "2"}
    await line.queues.close()


async def test_a_turn_that_runs_under_its_old_key_can_be_stopped_under_the_new_one() -> None:
    line = Line()
    line.queues.submit(turn("a", OLD))
    await line.wait_for("a")
    line.queues.rename(OLD, NEW, renamed)
    assert [each.turn_id for each in await line.queues.stop(NEW)] == ["a"]
