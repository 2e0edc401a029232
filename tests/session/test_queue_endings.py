"""Waiting for a turn to end: told once it ran, was stopped or the bot stops; at once when there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest

from echo_bot.events import EventId, SessionKey, TurnId
from echo_bot.session import SessionQueues
from echo_bot.storage.records import TurnRecord, TurnState

KEY = SessionKey("api:ci")


def turn(name: str) -> TurnRecord:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    return TurnRecord(TurnId(name), KEY, EventId(name), "{}", TurnState.QUEUED, now)


async def test_an_unknown_turn_has_ended() -> None:
    async def run(record: TurnRecord) -> None: ...

    await asyncio.wait_for(SessionQueues(run).ended(TurnId("a")), 10)


async def test_the_end_of_a_turn_is_told_to_all_who_wait_and_no_sooner() -> None:
    let_go = asyncio.Event()

    async def run(record: TurnRecord) -> None:
        await let_go.wait()

    queues = SessionQueues(run)
    for name in ("a", "b"):
        queues.submit(turn(name))
    waits = [asyncio.create_task(queues.ended(TurnId(name))) for name in ("a", "a", "b")]
    await asyncio.wait(waits, timeout=0.01)
    assert not any(wait.done() for wait in waits)
    let_go.set()
    await asyncio.wait_for(asyncio.gather(*waits), 10)


async def stop(queues: SessionQueues) -> None:
    await queues.stop(KEY)


async def close(queues: SessionQueues) -> None:
    await queues.close()


@pytest.mark.parametrize("end", [stop, close])
async def test_turns_that_are_dropped_have_ended(end: Callable[[SessionQueues], Awaitable[None]]) -> None:
    async def run(record: TurnRecord) -> None:
        await asyncio.Event().wait()

    queues = SessionQueues(run)
    for name in ("a", "b"):
        queues.submit(turn(name))
    waits = [asyncio.create_task(queues.ended(TurnId(name))) for name in ("a", "b")]
    await asyncio.sleep(0)
    await end(queues)
    await asyncio.wait_for(asyncio.gather(*waits), 10)
