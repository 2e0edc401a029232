"""A workflow's steps: in their order and side by side, with results handed on, shown in one message."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from echo_bot.delivery import live
from echo_bot.errors import ChannelError
from echo_bot.events import SessionKey
from echo_bot.storage.flow_records import StepState, WorkflowState
from echo_bot.testing.bot import running_bot
from echo_bot.testing.cast import Cast
from echo_bot.testing.fake_channel import FULL_CAPABILITIES, FakeChannel
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel

Config = dict[str, object]
Hand = Callable[..., Any]
DONE, FAILED = WorkflowState.DONE, WorkflowState.FAILED


def sh(step_id: str, command: object, **more: object) -> dict[str, object]:
    return {"id": step_id, "tool": "exec", "args": {"command": command}, **more}


async def test_results_are_handed_on_and_one_message_shows_it_all(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        await me.run(
            {
                "id": "write",
                "tool": "write_file",
                "args": {"path": "out.txt", "content": "it is ${look.output}"},
            },
            sh("look", "echo fine"),
            sh("read", {"$from": "make.output"}, needs=["write"]),
            sh("make", "echo cat out.txt", needs=["look"]),
        )
        text = await me.shows("is done")
        assert text.splitlines() == [
            "Workflow release is done: 4 of 4 steps done",
            "✓ write (write_file)",
            "✓ look (exec)",
            "✓ read (exec)",
            "✓ make (exec)",
        ]
        assert (await me.until(DONE))["read"].output == "it is fine"
        assert len(me.shown()) == 1
        assert me.shown()[0].versions[0] != me.shown()[0].versions[-1]
        said = await bot.parts.inbox.transcript(me.shown()[0].ref.address, 20)
        assert [entry.text for entry in said if entry.text.startswith("Workflow release is done: 4")] == [
            text
        ]


async def test_steps_that_do_not_need_one_another_run_side_by_side(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        meet = "touch {}; while [ ! -e {} ]; do sleep 0.02; done"
        await me.run(sh("a", meet.format("a", "b")), sh("b", meet.format("b", "a")))
        await me.until(DONE)


async def test_only_so_many_run_at_once(tmp_path: Path, free: Config, hand: Hand) -> None:
    async with running_bot(tmp_path, free | {"agent.parallel_tools": 1}) as bot:
        me = hand(bot)
        await me.run(*(sh(f"s{n}", f"echo {n} >> log; sleep 0.05; echo {n} >> log") for n in range(3)))
        await me.until(DONE)
        assert (bot.workspace / "log").read_text().split() == ["0", "0", "1", "1", "2", "2"]


async def test_a_failure_ends_it_unless_the_step_says_otherwise(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        await me.run(
            sh("lint", "exit 3", on_failure="continue"),
            sh("tell", "echo lint said no", when={"step": "lint", "is": "failed"}),
            sh("praise", "touch praised", when={"step": "lint", "is": "ok"}),
            sh("test", "echo 2 broken; exit 1", needs=["tell"]),
            sh("ship", "touch shipped", needs=["test"]),
        )
        steps = await me.until(FAILED)
        assert {name: at.state for name, at in steps.items()} == {
            "lint": StepState.FAILED,
            "tell": StepState.OK,
            "praise": StepState.SKIPPED,
            "test": StepState.FAILED,
            "ship": StepState.SKIPPED,
        }
        assert (steps["test"].error, steps["test"].output) == ("exit code 1", "2 broken")
        assert steps["ship"].error == "the workflow stopped at test"
        assert not {"praised", "shipped"} & {each.name for each in bot.workspace.iterdir()}
        assert "✗ test (exec): exit code 1" in await me.shows("failed")


async def test_a_step_that_fails_is_tried_again_as_often_as_it_says(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        await me.run(
            sh("flaky", "echo x >> tries; [ $(wc -l < tries) = 3 ]", retries=5),
            sh("never", "echo x >> never; exit 1", retries=1, on_failure="continue"),
        )
        steps = await me.until(DONE)
        assert (steps["flaky"].state, steps["flaky"].attempt) == (StepState.OK, 3)
        assert (steps["never"].state, steps["never"].attempt) == (StepState.FAILED, 2)
        assert (bot.workspace / "never").read_text() == "x\nx\n"


async def test_a_step_has_its_time(tmp_path: Path, free: Config, hand: Hand) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        await me.run(sh("slow", "sleep 60; touch late", timeout=1))
        steps = await me.until(FAILED)
        assert steps["slow"].error == "exec took longer than the step's 1 s"
        assert not (bot.workspace / "late").exists()


async def test_a_result_with_commands_in_it_is_data_where_it_is_used_as_data(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        hostile = '"; touch pwned; echo "${make.error} $(touch pwned)'
        (bot.workspace / "page").write_text(hostile)
        env = {"command": 'printf %s "$PAGE" > copy', "env": {"PAGE": {"$from": "fetch.output"}}}
        await me.run(
            sh("fetch", "cat page"),
            {"id": "use", "tool": "exec", "args": env},
            {"id": "keep", "tool": "write_file", "args": {"path": "kept", "content": "${fetch.output}"}},
            sh("make", "true"),
        )
        await me.until(DONE)
        assert (bot.workspace / "copy").read_text() == hostile
        assert (bot.workspace / "kept").read_text() == hostile
        assert not (bot.workspace / "pwned").exists()


async def test_what_can_never_run_is_refused_at_create(tmp_path: Path, free: Config, hand: Hand) -> None:
    async with running_bot(tmp_path, free | {"tools.deny": ["patch"]}) as bot:
        me = hand(bot)
        for steps, why in (
            ([{"id": "a", "tool": "patch", "args": {"patch": "x"}}], "it is filtered by tools.deny"),
            ([sh("a", "ls", timeout=-1)], "steps.0.timeout must be at least 0"),
            ([{"id": "a", "tool": "exec", "args": {"cmd": "ls"}}], "a: exec: cmd is not a parameter"),
            ([sh("a", "ls", needs=["b"]), sh("b", "ls", needs=["a"])], "a → b → a"),
        ):
            assert why in await me.flow("create", steps=steps)
        assert await bot.store.workflows.list(None, 5) == ()
        assert "there is no workflow" in await me.flow("start")


async def test_the_next_turn_of_the_chat_knows_how_it_ended(tmp_path: Path, free: Config, hand: Hand) -> None:
    steps = [sh("a", "echo found 42")]
    script: list[CallTool | Say] = [
        CallTool("workflow", {"action": "create", "name": "release", "steps": steps}),
        CallTool("workflow", {"action": "start", "name": "release"}),
        Say("It runs."),
        Say("It found 42."),
    ]
    model = ScriptedModel(script)
    async with running_bot(tmp_path, free, model=model.model) as bot:
        me = hand(bot)
        await bot.channel.say("look it up")
        await bot.channel.wait_for_text("It runs.")
        await me.shows("is done")
        session = SessionKey((await me.record()).session_key)
        while len(await bot.store.sessions.history(session, 9, datetime(2000, 1, 1, tzinfo=UTC))) < 2:
            await asyncio.sleep(0.01)
        await bot.channel.say("and?")
        await bot.channel.wait_for_text("It found 42.")
        read = str(model.seen[-1])
        assert "A workflow ended." in read
        assert "found 42" in read


async def test_an_agent_step_is_a_worker_whose_answer_is_handed_on(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    cast = Cast({"Sum up: 3 trams, 2 ferries": [Say("five vehicles")]})
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        me = hand(bot)
        await me.run(
            sh("count", "echo 3 trams, 2 ferries"),
            {"id": "sum", "agent": "Sum up: ${count.output}", "tools": ["read_file"]},
            {"id": "keep", "tool": "write_file", "args": {"path": "sum", "content": {"$from": "sum.output"}}},
        )
        await me.until(DONE)
        assert "five vehicles" in (bot.workspace / "sum").read_text()
        assert "✓ sum (agent)" in await me.shows("is done")


async def test_where_nothing_can_be_edited_there_is_a_line_at_the_start_and_one_at_the_end(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    paper = FakeChannel("telegram", capabilities=replace(FULL_CAPABILITIES, edits=False))
    async with running_bot(tmp_path, free, channel=paper) as bot:
        me = hand(bot)
        await me.run(sh("a", "true"), sh("b", "true", needs=["a"]), sh("c", "true", needs=["b"]))
        await me.shows("is done")
        first, last = me.shown()
        assert "is running" in first.body
        assert [len(each.versions) for each in (first, last)] == [1, 1]


async def test_many_quick_steps_make_few_edits(
    tmp_path: Path, free: Config, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "_BETWEEN_SECONDS", 3600.0)
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        names = [f"s{number}" for number in range(20)]
        chain = [sh(name, "true", needs=names[n - 1 : n] if n else []) for n, name in enumerate(names)]
        await me.run(*chain)
        await me.shows("is done")
        [message] = me.shown()
        assert len(message.versions) == 2


async def test_a_secret_that_a_step_prints_is_masked_everywhere(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        secret = "ghp_" + "a1B2" * 9
        await me.run(sh("a", f"echo {secret[:20]}''{secret[20:]} >&2; exit 1"))
        await me.shows("failed")
        assert secret not in json.dumps([str(m.versions) for m in me.shown()])


async def test_an_edit_that_the_platform_refuses_holds_nothing_up(
    tmp_path: Path, free: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, free) as bot:
        me = hand(bot)
        bot.channel.fail("edit_text", ChannelError("not now"), times=2)
        await me.run(sh("a", "sleep 2.5"), sh("b", "true", needs=["a"]))
        await me.until(DONE)
        await me.shows("is done: 2 of 2")
        assert len(me.shown()) == 1


async def test_results_that_would_make_an_endless_call_make_none(
    tmp_path: Path, local: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, local) as bot:
        (bot.workspace / "long").write_text("x" * 15_000)
        me = hand(bot)
        await me.run(
            {"id": "read", "tool": "read_file", "args": {"path": "long"}},
            {
                "id": "write",
                "tool": "write_file",
                "args": {"path": "big", "content": "${read.output}" * 3000},
            },
        )
        assert "1,000,000 is the most" in (await me.until(FAILED))["write"].error
        assert not (bot.workspace / "big").exists()
