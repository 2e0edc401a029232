"""A bot that stops in the middle, anywhere: what is done stays done, and nothing is done twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from echo_bot.errors import StorageError
from echo_bot.events import SessionKey, TurnId
from echo_bot.storage.flow_records import StepRecord, StepState, WorkflowRecord, WorkflowState
from echo_bot.storage.records import GrantRecord, JournalEntry, TurnState
from echo_bot.storage.store import SqlStore, open_store
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.scripted_model import Say, ScriptedModel
from echo_bot.testing.waiting import eventually
from echo_bot.tools.base import ToolResult

Config = dict[str, object]
Hand = Callable[..., Any]
Is = Callable[[FakeMessage], bool]
S = WorkflowState
HOLD = "touch began; while [ ! -e go ]; do sleep 0.02; done; echo held >> log"


def sh(step_id: str, command: object, **more: object) -> dict[str, object]:
    return {"id": step_id, "tool": "exec", "args": {"command": command}, **more}


@asynccontextmanager
async def stopped(folder: Path) -> AsyncIterator[SqlStore]:
    """The database while no bot runs on it."""
    store = await open_store(f"sqlite+aiosqlite:///{folder / 'state' / 'echo-bot.db'}")
    yield store
    await store.close()


async def release(store: SqlStore) -> WorkflowRecord:
    found = await store.workflows.named("telegram:1", "release")
    assert found is not None
    return found


async def test_a_step_that_was_under_way_is_of_unknown_outcome_and_never_run_again(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    channel = FakeChannel("telegram")
    steps = (
        sh("done", "echo done >> log"),
        sh("mid", f"{HOLD}; sleep 60", needs=["done"], retries=3, on_failure="continue"),
        sh("then", "echo ${mid.state} >> log"),
        sh("last", "true", when={"step": "mid", "is": "failed"}),
    )
    async with running_bot(tmp_path, free, channel=channel) as bot:
        await hand(bot).run(*steps)
        await eventually((bot.workspace / "began").exists, "the middle step")
    (tmp_path / "workspace" / "began").unlink()
    async with running_bot(tmp_path, free, channel=channel) as bot:
        me = hand(bot)
        found = await me.until(S.DONE)
        assert found["mid"].state is StepState.UNKNOWN
        assert found["mid"].error.startswith("Outcome unknown")
        assert found["last"].state is StepState.OK
        assert (bot.workspace / "log").read_text() == "done\nunknown\n"
        assert not (bot.workspace / "began").exists()
        text = await me.shows("is done")
        assert "? mid (exec): Outcome unknown" in text
        assert len(me.shown()) == 1


async def test_an_unknown_outcome_stops_the_workflow_unless_the_step_says_otherwise(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, free) as bot:
        await hand(bot).run(sh("mid", HOLD), sh("then", "touch then", needs=["mid"]))
        await eventually((bot.workspace / "began").exists, "the step")
    async with running_bot(tmp_path, free) as bot:
        found = await hand(bot).until(S.FAILED)
        assert [found[name].state for name in ("mid", "then")] == [StepState.UNKNOWN, StepState.SKIPPED]


async def test_a_card_of_a_step_outlives_the_bot_and_its_press_runs_the_step_once(
    tmp_path: Path, local: Config, hand: Hand, is_open: Is
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await hand(bot).run(sh("a", "echo once >> log"), sh("b", "echo ${a.state} >> log"))
        await channel.wait_for(is_open)
        while (await release_step(bot.store, "a")).state is not StepState.RUNNING:
            await asyncio.sleep(0.01)
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await eventually(lambda: channel.health().state == "connected", "the channel")
        assert (await channel.press("Approve once")).ok
        second = await channel.wait_for(lambda m: is_open(m) and "echo ok" in m.body, "the next card")
        assert (await channel.press("Approve once", message=second)).ok
        await hand(bot).until(S.DONE)
        assert (bot.workspace / "log").read_text() == "once\nok\n"


async def release_step(store: SqlStore, step_id: str) -> StepRecord:
    steps = await store.workflows.steps((await release(store)).workflow_id)
    return next(step for step in steps if step.step_id == step_id)


async def test_a_retry_that_was_waited_for_comes_after_the_restart(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    flaky = sh("a", "echo x >> log; [ $(wc -l < log) = 2 ]", retries=1, retry_delay=1)
    async with running_bot(tmp_path, free) as bot:
        await hand(bot).run(flaky)
        while (await release_step(bot.store, "a")).state is not StepState.RETRYING:
            await asyncio.sleep(0.01)
    async with running_bot(tmp_path, free) as bot:
        found = await hand(bot).until(S.DONE)
        assert found["a"].attempt == 2


async def test_what_is_paused_or_done_by_hand_waits_over_a_restart(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, free, channel=channel) as bot:
        me = hand(bot)
        await me.run({"id": "look", "manual": "x"}, sh("b", "touch b", needs=["look"]))
        await me.until(S.WAITING)
        await me.run(sh("a", HOLD), sh("b", "touch c", needs=["a"]), name="other")
        await eventually((bot.workspace / "began").exists, "the step")
        await me.flow("pause", "other")
        (bot.workspace / "go").touch()
        await me.shows("is paused", "other")
        while (await me.steps("other"))["a"].state is not StepState.OK:
            await asyncio.sleep(0.01)
    async with running_bot(tmp_path, free, channel=channel) as bot:
        me = hand(bot)
        assert (await me.record("other")).state is S.PAUSED
        await me.flow("advance", step="look")
        await me.until(S.DONE)
        await me.flow("resume", "other")
        await me.until(S.DONE, "other")
        assert (bot.workspace / "log").read_text() == "held\n"


async def test_a_result_that_was_journalled_and_not_noted_is_taken_and_not_made_again(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, free) as bot:
        await hand(bot).run(sh("a", HOLD), sh("b", "echo ${a.output} >> log"))
        await eventually((bot.workspace / "began").exists, "the step")
    (tmp_path / "workspace" / "began").unlink()
    async with stopped(tmp_path) as store:
        result = json.dumps(asdict(ToolResult(True, output="kept")))
        turn_id = (await release(store)).turn_id
        assert await store.turns.append(turn_id, JournalEntry("result", "step:a:1", result))
    async with running_bot(tmp_path, free) as bot:
        found = await hand(bot).until(S.DONE)
        assert found["a"].state is StepState.OK
        assert not (bot.workspace / "began").exists()
        assert "kept" in (bot.workspace / "log").read_text()


async def test_a_start_that_was_stored_and_not_queued_is_queued(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        await me.run(sh("a", "echo x >> log"))
        await me.until(S.DONE)
        await me.shows("is done")
    async with stopped(tmp_path) as store:
        record = await release(store)
        event = record.event_json.replace(f"{record.workflow_id}:1", f"{record.workflow_id}:2")
        again = replace(record, state=S.RUNNING, leg=2, turn_id=TurnId("nowhere"), event_json=event)
        assert await store.workflows.change(record, again, (StepRecord("a"),))
    async with running_bot(tmp_path, free) as bot:
        await hand(bot).until(S.DONE)
        assert (bot.workspace / "log").read_text() == "x\nx\n"


async def test_and_not_for_somebody_who_may_not_use_the_bot_any_more(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        await me.run(sh("a", "echo x >> log"))
        await me.until(S.DONE)
        await me.shows("is done")
    async with stopped(tmp_path) as store:
        record = await release(store)
        event = record.event_json.replace(f"{record.workflow_id}:1", f"{record.workflow_id}:2")
        again = replace(record, state=S.RUNNING, leg=2, turn_id=TurnId("nowhere"), event_json=event)
        assert await store.workflows.change(record, again, (StepRecord("a"),))
    others = free | {"channels.telegram.allow_from": ["2"], "permissions.admin_users": []}
    async with running_bot(tmp_path, others) as bot:
        await hand(bot).until(S.CANCELLED)
        assert (bot.workspace / "log").read_text() == "x\n"


async def test_a_run_whose_turn_ended_without_saying_so_is_brought_to_an_end(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, free, channel=channel) as bot:
        await hand(bot).run(sh("a", HOLD), sh("b", "true", needs=["a"]))
        await eventually((bot.workspace / "began").exists, "the step")
    async with stopped(tmp_path) as store:
        await store.turns.set_state((await release(store)).turn_id, TurnState.FAILED, "StorageError")
    async with running_bot(tmp_path, free, channel=channel) as bot:
        found = await hand(bot).until(S.FAILED)
        assert (found["a"].state, found["b"].state) == (StepState.UNKNOWN, StepState.CANCELLED)
        assert "? a (exec)" in await hand(bot).shows("failed: 0 of 2")
        assert len(hand(bot).shown()) == 1


@pytest.mark.parametrize("is_looked_at", [False, True], ids=["the sweep finds it", "somebody looks first"])
async def test_such_an_end_is_noted_to_the_model_and_ends_what_was_the_workflows_own(
    tmp_path: Path, free: Config, hand: Hand, is_looked_at: bool
) -> None:
    channel, script = FakeChannel("telegram"), ScriptedModel([Say("It failed.")])
    async with running_bot(tmp_path, free, channel=channel) as bot:
        await hand(bot).run(sh("a", HOLD))
        await eventually((bot.workspace / "began").exists, "the step")
    async with stopped(tmp_path) as store:
        record = await release(store)
        await store.turns.set_state(record.turn_id, TurnState.FAILED, "StorageError")
        at = datetime.now(UTC)
        own = f"workflow:{record.workflow_id}"
        grant = GrantRecord("g1", "telegram:1", "digest", "exec", "x", "session", at, "telegram:1", own)
        await store.grants.add(grant)
    async with running_bot(tmp_path, free, channel=channel, model=script.model) as bot:
        me = hand(bot)
        if is_looked_at:
            assert "failed" in await me.flow("status")
        await me.until(S.FAILED)
        session = SessionKey(record.session_key)
        async with asyncio.timeout(20):
            while not await bot.store.sessions.history(session, 9, datetime(2000, 1, 1, tzinfo=UTC)):
                await asyncio.sleep(0.01)
        await bot.channel.say("and?")
        await bot.channel.wait_for_text("It failed.")
        assert str(script.seen[-1]).count("A workflow ended.") == 1
        assert "unknown" in str(script.seen[-1])
        assert len(me.shown()) == 1
        assert await bot.store.grants.list(None, at) == ()


async def test_a_run_that_ended_just_before_the_crash_says_its_end_once(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, free, channel=channel) as bot:
        me = hand(bot)
        await me.run(sh("a", HOLD), sh("b", "touch b", needs=["a"]))
        await eventually((bot.workspace / "began").exists, "the step")
        await me.flow("pause")
    async with stopped(tmp_path) as store:
        record = await release(store)
        done = (StepRecord("a", StepState.OK, 1, 1), StepRecord("b", StepState.OK, 1, 1))
        assert await store.workflows.change(record, replace(record, state=S.DONE), done)
    async with running_bot(tmp_path, free, channel=channel) as bot:
        me = hand(bot)
        await me.shows("is done: 2 of 2")
        assert len(me.shown()) == 1
        while await bot.store.turns.unfinished():
            await asyncio.sleep(0.01)
        assert not (bot.workspace / "b").exists()


async def test_a_step_that_an_earlier_turn_left_under_way_is_of_unknown_outcome(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, free, channel=channel) as bot:
        me = hand(bot)
        await me.run(sh("a", HOLD, on_failure="continue"), sh("b", "echo ${a.state} >> log"))
        await eventually((bot.workspace / "began").exists, "the step")
        await me.flow("pause")
    (tmp_path / "workspace" / "began").unlink()
    async with stopped(tmp_path) as store:
        await store.turns.set_state((await release(store)).turn_id, TurnState.FAILED, "StorageError")
    async with running_bot(tmp_path, free, channel=channel) as bot:
        me = hand(bot)
        await me.flow("resume")
        assert (await me.until(S.DONE))["a"].state is StepState.UNKNOWN
        assert (bot.workspace / "log").read_text() == "unknown\n"
        assert not (bot.workspace / "began").exists()


async def test_a_database_that_refuses_ends_the_run_and_the_chat_is_told(
    tmp_path: Path, free: Config, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        await me.run(sh("a", HOLD), sh("b", "touch b", needs=["a"]))
        await eventually((bot.workspace / "began").exists, "the step")

        async def refuse(workflow_id: str, step: StepRecord) -> None:
            raise StorageError("the disk is full")

        with monkeypatch.context() as patched:
            patched.setattr(bot.store.workflows, "put_step", refuse)
            (bot.workspace / "go").touch()
            while await bot.store.turns.unfinished():
                await asyncio.sleep(0.01)
        bot.parts.flows.timers.wake()
        assert "? a (exec)" in await me.shows("failed")
        assert not (bot.workspace / "b").exists()
        assert len(me.shown()) == 1
