"""Agent steps: workers that are asked for, stopped and revived like any others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from echo_bot.storage.flow_records import StepState, WorkflowState
from echo_bot.storage.records import TurnState
from echo_bot.testing.bot import running_bot
from echo_bot.testing.cast import Cast, Hold
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import CallTool, Say
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Hand = Callable[..., Any]
Is = Callable[[FakeMessage], bool]
KEEP = {"id": "keep", "tool": "write_file", "args": {"path": "kept", "content": "${think.output}"}}
THINK = {"id": "think", "agent": "think of a word", "tools": ["exec", "read_file"]}


def thinking(until: asyncio.Event) -> Cast:
    run = CallTool("exec", {"command": "echo once >> log"})
    return Cast({"think of a word": [run, Hold(until, Say("sardine"))]})


async def test_a_worker_needs_a_yes_and_its_own_calls_ask_nobody(
    tmp_path: Path, local: Config, hand: Hand, is_open: Is
) -> None:
    go = asyncio.Event()
    go.set()
    cast = thinking(go)
    async with running_bot(tmp_path, local, model=cast.model) as bot:
        me = hand(bot)
        await me.run(THINK, KEEP)
        card = await bot.channel.wait_for(is_open)
        assert "think of a word" in card.body
        assert (await bot.channel.press("Approve once", message=card)).ok
        await me.until(WorkflowState.DONE)
        assert cast.offered["think of a word"] == {"exec", "read_file"}
        assert "was not run" in cast.heard["think of a word"][0]
        assert "sardine" in (bot.workspace / "kept").read_text()
        assert not (bot.workspace / "log").exists()
        assert len(bot.channel.cards) == 1


async def test_a_worker_goes_on_after_a_restart_and_its_answer_reaches_the_step(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    cast = thinking(asyncio.Event())
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        await hand(bot).run(THINK, KEEP)
        await eventually(lambda: cast.heard.get("think of a word"), "the worker's call")
    go = asyncio.Event()
    go.set()
    after = thinking(go)
    async with running_bot(tmp_path, free, model=after.model) as bot:
        found = await hand(bot).until(WorkflowState.DONE)
        assert found["think"].state is StepState.OK
        assert "sardine" in (bot.workspace / "kept").read_text()
        assert after.begun == [], "nobody began anew"
        assert (bot.workspace / "log").read_text() == "once\n"


async def test_cancel_stops_the_worker_too(tmp_path: Path, free: Config, hand: Hand) -> None:
    cast = thinking(asyncio.Event())
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        me = hand(bot)
        await me.run(THINK, KEEP)
        await eventually(lambda: cast.heard.get("think of a word"), "the worker's call")
        [worker] = [turn for turn in await bot.store.turns.unfinished() if turn.kind == "worker"]
        assert "was cancelled" in await me.flow("cancel")
        stopped = await bot.store.turns.get(worker.turn_id)
        assert stopped is not None
        assert stopped.state is TurnState.STOPPED
        assert await bot.store.turns.unfinished() == ()


async def test_a_worker_looks_at_workflows_and_changes_none(tmp_path: Path, free: Config, hand: Hand) -> None:
    calls = [
        CallTool("workflow", {"action": action, "name": "release"})
        for action in ("status", "start", "cancel", "create", "pause")
    ]
    cast = Cast({"look": [*calls, Say("looked")]})
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        me = hand(bot)
        created = await me.flow("create", steps=[{"id": "a", "manual": "x"}])
        assert "created" in created
        await me.call("delegate_task", goal="look", tools=["workflow"])
        status, *others = cast.heard["look"]
        assert "a: pending" in status
        assert all("a worker changes no workflow" in each for each in others)
        assert (await me.record()).state is WorkflowState.CREATED
