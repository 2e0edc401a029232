"""Pausing, going on, doing by hand, cancelling; whose workflow it is; what goes on with nobody there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from echo_bot.storage.flow_records import StepState, WorkflowState
from echo_bot.testing.bot import running_bot
from echo_bot.testing.clock import MovedClock
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Hand = Callable[..., Any]
Is = Callable[[FakeMessage], bool]
S = WorkflowState
HOLD = "touch began; while [ ! -e go ]; do sleep 0.02; done; echo held"
TWO = {
    "channels.telegram.allow_from": ["1", "2"],
    "permissions.elevated.enabled": True,
    "permissions.elevated.allow_from": {"telegram": ["1", "2"]},
}


def sh(step_id: str, command: object, **more: object) -> dict[str, object]:
    return {"id": step_id, "tool": "exec", "args": {"command": command}, **more}


@pytest.fixture
def began(tmp_path: Path) -> Callable[[], Any]:
    async def wait() -> None:
        await eventually((tmp_path / "workspace" / "began").exists, "the first step's start")

    return wait


async def test_pause_finishes_what_runs_and_holds_the_rest_until_resume(
    tmp_path: Path, free: Config, hand: Hand, began: Callable[[], Any]
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        await me.run(sh("a", HOLD), sh("b", "touch second", needs=["a"]))
        await began()
        assert "Under way until they end: a." in await me.flow("pause")
        (bot.workspace / "go").touch()
        assert "✓ a" in await me.shows("is paused")
        steps = await me.steps()
        assert (steps["a"].state, steps["b"].state) == (StepState.OK, StepState.PENDING)
        assert "is running" in await me.flow("resume")
        await me.until(S.DONE)
        assert (bot.workspace / "second").exists()
        assert len(me.shown()) == 2
        assert "only a paused one resumes" in await me.flow("resume")


async def test_resume_while_the_last_step_still_runs_loses_nothing(
    tmp_path: Path, free: Config, hand: Hand, began: Callable[[], Any]
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        await me.run(sh("a", HOLD), sh("b", "echo after ${a.output}"))
        await began()
        await me.flow("pause")
        await me.flow("resume")
        (bot.workspace / "go").touch()
        assert (await me.until(S.DONE))["b"].output == "after held"


async def test_a_step_by_hand_waits_for_advance_and_says_what_came_of_it(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        await me.run(
            {"id": "look", "manual": "Look at the draft"},
            sh("use", "echo ${look.output}"),
            {"id": "sign", "manual": "Sign it", "needs": ["use"]},
        )
        assert "☐ look (by hand): Look at the draft" in await me.shows("waits for a step")
        assert "no step 'use' waits to be done by hand; these do: look" in await me.flow(
            "advance", step="use"
        )
        assert "use: " in await me.flow("advance", step="look", note="fine")
        steps = await me.until(S.WAITING)
        assert steps["use"].output == "fine"
        assert "these do: sign" in await me.flow("advance", step="look", note="again")
        await me.flow("advance", step="sign", outcome="failed", note="no pen")
        steps = await me.until(S.FAILED)
        assert (steps["sign"].state, steps["sign"].error) == (StepState.FAILED, "no pen")


async def test_a_step_by_hand_is_advanced_while_others_run(
    tmp_path: Path, free: Config, hand: Hand, began: Callable[[], Any]
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        await me.run(sh("a", HOLD), {"id": "look", "manual": "x"}, sh("b", "touch go", needs=["look"]))
        await began()
        await me.flow("advance", step="look")
        await me.until(S.DONE)
        assert len(me.shown()) == 1


async def test_cancel_ends_what_runs_at_once_and_closes_what_is_asked(
    tmp_path: Path, local: Config, hand: Hand, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        me = hand(bot)
        await me.run(sh("a", "sleep 60; touch late"), sh("b", "touch b"), sh("c", "true", needs=["a"]))
        await eventually(lambda: sum(map(is_open, bot.channel.messages)) == 2, "both cards")
        [card] = [m for m in bot.channel.messages if is_open(m) and "sleep 60" in m.body]
        await bot.channel.press("Approve once", message=card)
        turn = (await me.record()).turn_id
        while not any(e.kind == "call" for e in await bot.store.turns.journal(turn)):
            await asyncio.sleep(0.01)
        before = asyncio.get_running_loop().time()
        assert "was cancelled" in await me.flow("cancel")
        assert asyncio.get_running_loop().time() - before < 5
        steps = await me.until(S.CANCELLED)
        assert {each.state for each in steps.values()} == {StepState.CANCELLED}
        await me.shows("was cancelled")
        await eventually(lambda: not any(map(is_open, bot.channel.messages)), "the cards closed")
        assert await bot.store.turns.unfinished() == ()
        assert "there is nothing to cancel" in await me.flow("cancel")


async def test_stop_in_the_chat_cancels_what_was_started_there(
    tmp_path: Path, free: Config, hand: Hand, began: Callable[[], Any]
) -> None:
    async with running_bot(tmp_path, free | TWO) as bot:
        me = hand(bot)
        await me.run(sh("a", HOLD))
        await began()
        await bot.channel.say("/stop", chat_id="2", sender_id="2")
        await bot.channel.wait_for_text("Nothing is running here.")
        await bot.channel.say("/stop")
        await bot.channel.wait_for_text("Stopped 1 workflow.")
        await me.shows("was cancelled")
        await me.until(S.CANCELLED)


async def test_a_cancelled_one_can_be_started_from_its_beginning(
    tmp_path: Path, free: Config, hand: Hand, began: Callable[[], Any]
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        await me.run(sh("a", "echo x >> log"), sh("b", HOLD, needs=["a"]))
        await began()
        await me.flow("cancel")
        (bot.workspace / "go").touch()
        await me.flow("start")
        await me.until(S.DONE)
        assert (bot.workspace / "log").read_text() == "x\nx\n"


async def test_only_its_owner_lets_it_run_and_admins_look_and_end_it(
    tmp_path: Path, free: Config, hand: Hand, began: Callable[[], Any]
) -> None:
    async with running_bot(tmp_path, free | TWO) as bot:
        owner, admin = hand(bot, "2", "2"), hand(bot, "1", "1")
        await owner.run(sh("a", HOLD))
        await began()
        flow_id = (await owner.record()).workflow_id
        assert "only its owner lets it run" in await admin.flow("start", flow_id)
        assert "(id " in await admin.flow("status", flow_id)
        listed = await admin.call("workflow", action="list", all=True)
        assert f"{flow_id}): running, of telegram:2" in listed
        assert "was cancelled" in await admin.flow("cancel", flow_id)
        await admin.run(sh("a", "true"), name="own")
        own_id = (await admin.record("own")).workflow_id
        for action in ("status", "start", "cancel", "pause", "resume"):
            assert "there is no workflow" in await owner.flow(action, own_id)
        assert "only an admin" in await owner.call("workflow", action="list", all=True)
        assert "own" not in await owner.call("workflow", action="list")


async def test_while_everything_is_paused_no_step_begins(
    tmp_path: Path, free: Config, hand: Hand, began: Callable[[], Any]
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        await me.run(sh("a", HOLD), sh("b", "touch second", needs=["a"]))
        await began()
        await bot.channel.say("/pause")
        await bot.channel.wait_for_text("Everything is paused")
        (bot.workspace / "go").touch()
        while (await me.steps())["a"].state is not StepState.OK:
            await asyncio.sleep(0.01)
        assert (await me.steps())["b"].state is StepState.PENDING
        await bot.channel.say("/resume")
        await me.until(S.DONE)
        assert len(me.shown()) == 1


async def test_resumed_by_a_timer_nobody_is_there_to_be_asked(
    tmp_path: Path, local: Config, hand: Hand, is_open: Is
) -> None:
    clock = MovedClock()
    keep = {"id": "keep", "tool": "write_file", "args": {"path": "kept", "content": "x"}, "needs": ["look"]}
    config = local | {"channels.max_backlog_minutes": 60 * 24 * 1000}
    async with running_bot(tmp_path, config, clock=clock) as bot:
        me = hand(bot)
        await me.run(
            {"id": "look", "tool": "list_dir", "args": {"path": "."}, "needs": ["gate"]},
            sh("gate", "touch approved"),
            sh("ask", "touch asked", needs=["look"], on_failure="continue"),
            keep | {"on_failure": "continue"},
        )
        card = await bot.channel.wait_for(is_open)
        assert "until " in await me.flow("pause", resume_at="in 2 hours")
        await bot.channel.press("Approve once", message=card)
        await me.shows("is paused")
        assert (bot.workspace / "approved").exists()
        clock.move(hours=3)
        bot.parts.flows.timers.wake()
        steps = await me.until(S.DONE)
        assert steps["look"].state is StepState.OK
        assert {steps[name].state for name in ("ask", "keep")} == {StepState.FAILED}
        assert "unattended" in steps["ask"].error
        assert not any(map(is_open, bot.channel.messages))
        assert not (bot.workspace / "kept").exists()


async def test_status_lists_what_runs_to_whom_it_concerns(
    tmp_path: Path, free: Config, hand: Hand, began: Callable[[], Any]
) -> None:
    async with running_bot(tmp_path, free | TWO) as bot:
        theirs = hand(bot, sender="2", chat="2")
        await theirs.run(sh("a", HOLD), sh("b", "true", needs=["a"]))
        await began()
        record = await theirs.record()
        since = f"{record.changed_at:%Y-%m-%d %H:%M} UTC"
        line = f"- Workflow `release` (id {record.workflow_id}) is at step `a`, since {since}"
        asked = {
            who: (await bot.channel.command("/status", sender_id=who, chat_id=where)).text
            for who, where in (("2", "2"), ("1", "1"))
        }
        elsewhere = await bot.channel.command("/status", sender_id="2", chat_id="3")
        assert line in asked["2"].splitlines()
        assert line in asked["1"].splitlines()
        assert "Workflow" not in elsewhere.text
        (bot.workspace / "go").touch()
        await theirs.until(S.DONE)
        assert "Workflow" not in (await bot.channel.command("/status", sender_id="2", chat_id="2")).text


async def test_commands_show_what_is_planned(tmp_path: Path, free: Config, hand: Hand) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        await bot.channel.say("/workflows")
        await bot.channel.wait_for_text("You have no workflows.")
        await me.run({"id": "look", "manual": "Look"})
        await me.until(S.WAITING)
        await bot.channel.say("/workflows")
        await bot.channel.wait_for_text("`release` – waiting")
        await bot.channel.say("/workflows release")
        await bot.channel.wait_for_text("`☐ look (by hand): Look`")
        await bot.channel.say("/workflows other")
        await bot.channel.wait_for_text("You have no workflow `other`.")
