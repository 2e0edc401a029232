"""Each step passes the gate by itself: its card, its answer, and what a refusal does to later steps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from echo_bot.events import CardState
from echo_bot.storage.flow_records import StepState, WorkflowState
from echo_bot.testing.bot import running_bot
from echo_bot.testing.clock import let_pass
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Hand = Callable[..., Any]
Is = Callable[[FakeMessage], bool]
DONE, FAILED = WorkflowState.DONE, WorkflowState.FAILED


def sh(step_id: str, command: object, **more: object) -> dict[str, object]:
    return {"id": step_id, "tool": "exec", "args": {"command": command}, **more}


async def test_each_step_asks_for_itself_with_the_call_as_it_will_run(
    tmp_path: Path, local: Config, hand: Hand, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        me = hand(bot)
        (bot.workspace / "name").write_text("x; touch pwned")
        await me.run(sh("first", "cat name"), sh("second", "touch ${first.output}"))
        card = await bot.channel.wait_for(is_open)
        assert "cat name" in card.body
        assert [each.state for each in (await me.steps()).values()] == [StepState.RUNNING, StepState.PENDING]
        assert (await bot.channel.press("Approve once", message=card)).ok
        second = await bot.channel.wait_for(lambda m: is_open(m) and m.ref != card.ref, "the second card")
        assert "touch x; touch pwned" in second.body
        assert "It is step second of workflow release" in second.body
        assert not (bot.workspace / "pwned").exists()
        assert (await bot.channel.press("Deny", message=second)).ok
        steps = await me.until(FAILED)
        assert (steps["first"].state, steps["second"].state) == (StepState.OK, StepState.FAILED)
        assert "denied" in steps["second"].error.lower()
        assert not (bot.workspace / "x").exists()
        assert "✗ second (exec): " in await me.shows("failed")


async def test_a_denied_step_is_not_tried_again_and_what_goes_on_goes_on(
    tmp_path: Path, local: Config, hand: Hand, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        me = hand(bot)
        await me.run(
            sh("ask", "touch asked", retries=3, on_failure="continue"),
            {
                "id": "note",
                "tool": "write_file",
                "args": {"path": "note", "content": "${ask.error}"},
                "when": {"step": "ask", "is": "failed"},
            },
        )
        await bot.channel.wait_for(is_open)
        await bot.channel.press("Deny")
        steps = await me.until(DONE)
        assert steps["ask"].attempt == 1
        assert "denied" in (bot.workspace / "note").read_text().lower()
        assert len(bot.channel.cards) == 1


async def test_an_edited_step_runs_as_changed_and_hands_on_what_that_printed(
    tmp_path: Path, local: Config, hand: Hand, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        me = hand(bot)
        keep = {"id": "keep", "tool": "write_file", "args": {"path": "kept", "content": "${say.output}"}}
        await me.run(sh("say", "echo wrong"), keep)
        await bot.channel.wait_for(is_open)
        assert (await bot.channel.press("Edit", text="echo right")).ok
        changed = await bot.channel.wait_for(
            lambda m: is_open(m) and "Edited by" in m.body, "the changed call's card"
        )
        await bot.channel.press("Approve once", message=changed)
        await me.until(DONE)
        assert (bot.workspace / "kept").read_text() == "right"


async def test_a_step_that_nobody_decides_in_time_has_failed_and_cannot_be_asked_again(
    tmp_path: Path, local: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, local | {"permissions.approval.wait_timeout_seconds": 1}) as bot:
        me = hand(bot)
        await me.run(sh("ask", "touch asked"), sh("then", "true", needs=["ask"]))
        steps = await me.until(FAILED)
        assert "nobody consented" in steps["ask"].error
        await bot.channel.wait_for(
            lambda m: m.card is not None and m.card.state is CardState.EXPIRED, "the expired card"
        )
        reply = await bot.channel.press("Ask again")
        assert (reply.ok, "step of a workflow" in reply.text) == (False, True)
        assert not (bot.workspace / "asked").exists()


async def test_the_time_that_a_person_takes_is_not_the_steps(
    tmp_path: Path, local: Config, hand: Hand, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        me = hand(bot)
        await me.run(sh("quick", "echo done", timeout=30))
        await bot.channel.wait_for(is_open)
        while (await bot.store.approvals.pending())[0].deadline is None:
            await asyncio.sleep(0.01)
        let_pass(31)
        await bot.channel.press("Approve once")
        assert (await me.until(DONE))["quick"].output == "done"


async def test_an_approval_for_the_session_holds_for_this_workflow_until_its_end(
    tmp_path: Path, local: Config, hand: Hand, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        me = hand(bot)
        await me.run(sh("a", "echo x >> log"), sh("b", "echo x >> log", needs=["a"]))
        await bot.channel.wait_for(is_open)
        await bot.channel.press("For this session")
        await me.until(DONE)
        await me.shows("is done")
        assert (bot.workspace / "log").read_text() == "x\nx\n"
        assert len(bot.channel.cards) == 1
        while await bot.store.grants.list(None, bot.parts.flows.clock()):
            await asyncio.sleep(0.01)


async def test_steps_side_by_side_wait_each_for_its_own_card(
    tmp_path: Path, local: Config, hand: Hand, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        me = hand(bot)
        await me.run(sh("a", "touch a"), sh("b", "touch b"), sh("c", "touch c", on_failure="continue"))
        await eventually(lambda: sum(map(is_open, bot.channel.messages)) == 3, "three cards")
        for command, label in (("touch b", "Approve once"), ("touch c", "Deny"), ("touch a", "Approve once")):
            [card] = [m for m in bot.channel.messages if is_open(m) and command in m.body]
            assert (await bot.channel.press(label, message=card)).ok
        await me.until(DONE)
        assert {each.name for each in bot.workspace.iterdir()} == {"a", "b"}


async def test_a_step_may_ask_a_person_and_hand_the_answer_on(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        question = {"question": "Which one?", "options": ["red", "blue"]}
        await me.run(
            {"id": "ask", "tool": "clarify", "args": question},
            {"id": "keep", "tool": "write_file", "args": {"path": "kept", "content": "${ask.output}"}},
        )
        await bot.channel.wait_for_button("blue")
        assert (await bot.channel.press("blue")).ok
        await me.until(DONE)
        assert "blue" in (bot.workspace / "kept").read_text()
