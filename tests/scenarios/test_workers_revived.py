"""Workers over a restart: their caller finds them again, none runs twice, and orphans are stopped."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from echo_bot.events import TurnId
from echo_bot.storage.records import TurnState
from echo_bot.storage.store import open_store
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.cast import Cast, Hold
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import CallTool, Say, Step
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Says = Callable[[str], Callable[[FakeMessage], bool]]
Scripts = dict[str, Sequence[Step | Hold]]
IsOpen = Callable[[FakeMessage], bool]


@pytest.fixture
def free(local: Config) -> Config:
    """Nobody is asked."""
    return local | {"permissions.approval.mode": "off"}


def delegating(until: asyncio.Event) -> Cast:
    """Two workers: the first is done at once, the second has run a command and thinks until the event."""
    return Cast(
        {
            "go": [CallTool("delegate_task", {"tasks": ["quick", "slow"]}), Say("all done")],
            "quick": [CallTool("exec", {"command": "echo quick >> log"}), Say("quick it was")],
            "slow": [CallTool("exec", {"command": "echo slow >> log"}), Hold(until, Say("slow it was"))],
        }
    )


async def half_done(bot: RunningBot, cast: Cast) -> None:
    while not await bot.store.audit.of_kind("worker_ended"):
        await asyncio.sleep(0.01)
    await eventually(lambda: len(cast.heard.get("slow", ())) == 1, "the slow worker's second answer")


async def test_a_caller_finds_its_workers_again_and_what_was_done_stays_done(
    tmp_path: Path, free: Config, says: Says
) -> None:
    cast = delegating(asyncio.Event())
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        await bot.channel.say("go")
        await half_done(bot, cast)
    go = asyncio.Event()
    go.set()
    after = delegating(go)
    async with running_bot(tmp_path, free, model=after.model) as bot:
        await bot.channel.wait_for(says("all done"))
        assert "quick it was" in after.heard["go"][0]
        assert "slow it was" in after.heard["go"][0]
        assert after.begun == [], "nobody began anew"
        assert sorted((bot.workspace / "log").read_text().split()) == ["quick", "slow"]
        while await bot.store.turns.unfinished():
            await asyncio.sleep(0.01)
        assert len(await bot.store.audit.of_kind("worker_started")) == 2


async def test_an_approved_call_is_not_asked_about_again_when_it_finds_its_workers(
    tmp_path: Path, local: Config, says: Says, is_open: IsOpen
) -> None:
    scripts: Scripts = {"go": [CallTool("delegate_task", {"goal": "task"}), Say("all done")]}
    before = Cast({**scripts, "task": [Hold(asyncio.Event(), Say("never"))]})
    async with running_bot(tmp_path, local, model=before.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("Approve once")
        await eventually(lambda: "task" in before.begun, "the worker")
    after = Cast({**scripts, "task": [Say("did it")]})
    async with running_bot(tmp_path, local, model=after.model) as bot:
        await bot.channel.wait_for(says("all done"))
        assert "did it" in after.heard["go"][0]
        assert bot.channel.cards == []


async def test_a_call_as_a_person_changed_it_finds_the_workers_of_the_changed_one(
    tmp_path: Path, local: Config, says: Says, is_open: IsOpen
) -> None:
    scripts: Scripts = {"go": [CallTool("delegate_task", {"goal": "task"}), Say("all done")]}
    before = Cast({**scripts, "other": [Hold(asyncio.Event(), Say("never"))]})
    async with running_bot(tmp_path, local, model=before.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("Edit", text="other")
        await bot.channel.wait_for(lambda message: is_open(message) and "Edited by" in message.body)
        await bot.channel.press("Approve once")
        await eventually(lambda: "other" in before.begun, "the worker")
    after = Cast({**scripts, "other": [Say("did it")]})
    async with running_bot(tmp_path, local, model=after.model) as bot:
        await bot.channel.wait_for(says("all done"))
        assert "did it" in after.heard["go"][0]


@pytest.mark.parametrize("state", [TurnState.STOPPED, TurnState.FAILED])
async def test_workers_whose_caller_is_over_are_stopped_with_theirs_at_the_next_start(
    tmp_path: Path, free: Config, state: TurnState
) -> None:
    never = asyncio.Event()
    cast = Cast(
        {
            "go": [CallTool("delegate_task", {"goal": "leads"})],
            "leads": [CallTool("delegate_task", {"goal": "follows"})],
            "follows": [Hold(never, Say("never"))],
        }
    )
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        await bot.channel.say("go")
        await eventually(lambda: "follows" in cast.begun, "the last one")
    store = await open_store(f"sqlite+aiosqlite:///{tmp_path / 'state' / 'echo-bot.db'}")
    [caller] = [turn for turn in await store.turns.unfinished() if turn.kind == "message"]
    await store.turns.set_state(caller.turn_id, state)
    await store.close()
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        while await bot.store.turns.unfinished():
            await asyncio.sleep(0.01)
        rows = [json.loads(row.body_json) for row in await bot.store.audit.of_kind("worker_started")]
        turns = [await bot.store.turns.get(TurnId(row["turn"])) for row in rows]
        assert [turn and turn.state for turn in turns] == [TurnState.STOPPED] * 2


async def test_a_worker_in_the_background_goes_on_though_its_turn_is_over_and_tells_once(
    tmp_path: Path, free: Config, says: Says
) -> None:
    scripts: Scripts = {"go": [CallTool("spawn_task", {"task": "watch"}), Say("it watches")]}
    before = Cast({**scripts, "watch": [Hold(asyncio.Event(), Say("never"))]})
    async with running_bot(tmp_path, free, model=before.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("it watches"))
        await eventually(lambda: "watch" in before.begun, "the worker")
    after = Cast({**scripts, "watch": [Say("28 trams")]})
    for _ in range(2):
        async with running_bot(tmp_path, free, model=after.model) as bot:
            while await bot.store.turns.unfinished():
                await asyncio.sleep(0.01)
            rows = [row for row in await bot.store.outbox.list("sent", 10) if "28 trams" in row.body_json]
            assert len(rows) == 1


async def test_a_workers_call_that_had_begun_is_of_unknown_outcome_and_not_run_again(
    tmp_path: Path, free: Config, says: Says
) -> None:
    scripts: Scripts = {
        "go": [CallTool("delegate_task", {"goal": "task"}), Say("all done")],
        "task": [CallTool("exec", {"command": "echo x >> log; sleep 60"}), Say("I cannot tell")],
    }
    async with running_bot(tmp_path, free, model=Cast(scripts).model) as bot:
        await bot.channel.say("go")
        await eventually((bot.workspace / "log").exists, "the command")
    after = Cast(scripts)
    async with running_bot(tmp_path, free, model=after.model) as bot:
        await bot.channel.wait_for(says("all done"))
        assert after.heard["task"][0].startswith("Outcome unknown: ")
        assert (bot.workspace / "log").read_text() == "x\n"


async def test_a_call_that_is_not_allowed_any_more_leaves_no_worker_behind(
    tmp_path: Path, free: Config, says: Says
) -> None:
    scripts: Scripts = {
        "go": [CallTool("delegate_task", {"goal": "task"}), Say("all done")],
        "task": [Hold(asyncio.Event(), Say("never"))],
    }
    before = Cast(scripts)
    async with running_bot(tmp_path, free, model=before.model) as bot:
        await bot.channel.say("go")
        await eventually(lambda: "task" in before.begun, "the worker")
    after, denied = Cast(scripts), free | {"permissions.approval.auto_deny": ["delegate_task"]}
    async with running_bot(tmp_path, denied, model=after.model) as bot:
        await bot.channel.wait_for(says("all done"))
        assert "auto_deny names delegate_task" in after.heard["go"][0]
        while await bot.store.turns.unfinished():
            await asyncio.sleep(0.01)
