"""What passes the gate in a worker: everything but what only a person, or one at the terminal, lets pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic_ai.toolsets import FunctionToolset

from echo_bot.testing.bot import running_bot
from echo_bot.testing.cast import Cast
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel

Config = dict[str, object]
Says = Callable[[str], Callable[[FakeMessage], bool]]

READS, WRITES = CallTool("list_dir", {"path": "."}), CallTool("write_file", {"path": "w", "content": "x"})
RUNS = CallTool("exec", {"command": "touch ran"})
INLINE = CallTool("exec", {"command": "python3 -c 1"})
HARD = CallTool("exec", {"command": "rm -rf /etc"})
ELSEWHERE = CallTool("message", {"text": "hello", "target": "telegram:99"})
DANGEROUS = CallTool("skill_manage", {"action": "disable", "name": "git-changelog"})

PASSES = {"permissions.approval.auto_approve": ["delegate_task"]}
TRUSTED = {"permissions.approval.trusted_channels": ["telegram"]}
OFF = {"permissions.approval.mode": "off"}
AUTO = {"permissions.approval.auto_approve": ["delegate_task", "exec", "skill_manage"]}
LISTED = PASSES | {"permissions.approval.allowlist": [{"tool": "exec", "args": {"command": "touch ran"}}]}
SMART = PASSES | {"permissions.approval.mode": "smart"}
NESTED = "a worker cannot ask a person"


@pytest.mark.parametrize(
    ("call", "config", "step"),
    [
        pytest.param(READS, PASSES, "risk_tier", id="reading passes"),
        pytest.param(WRITES, PASSES, "risk_tier", id="writing without an objection passes"),
        pytest.param(RUNS, PASSES, "nested", id="code needs a person, so it is refused"),
        pytest.param(RUNS, AUTO, "auto_approve", id="auto_approve passes code"),
        pytest.param(RUNS, TRUSTED, "trusted_channel", id="a trusted channel passes code"),
        pytest.param(INLINE, TRUSTED, "nested", id="a trusted channel passes nothing with a finding"),
        pytest.param(RUNS, OFF, "mode_off", id="mode off passes code"),
        pytest.param(RUNS, LISTED, "grant", id="the operator's list passes code"),
        pytest.param(RUNS, SMART, "smart", id="the approval model is asked"),
        pytest.param(HARD, OFF, "hard_guard", id="a hard guard denies"),
        pytest.param(ELSEWHERE, PASSES, "nested", id="another chat needs a person"),
        pytest.param(DANGEROUS, PASSES, "nested", id="dangerous is refused"),
        pytest.param(DANGEROUS, OFF, "nested", id="dangerous is refused in mode off too"),
        pytest.param(DANGEROUS, AUTO, "nested", id="dangerous is refused though auto_approve names it"),
        pytest.param(DANGEROUS, TRUSTED, "nested", id="dangerous is refused on a trusted channel"),
        pytest.param(RUNS, PASSES | {"security.profile": "daemon"}, "filtered", id="daemon takes exec away"),
    ],
)
async def test_a_workers_call_is_decided_by(
    tmp_path: Path, local: Config, says: Says, call: CallTool, config: Config, step: str
) -> None:
    cast = Cast(
        {"go": [CallTool("delegate_task", {"goal": "task"}), Say("done")], "task": [call, Say("tried")]}
    )
    judge = ScriptedModel([Say("APPROVE")] * 2).model
    async with running_bot(tmp_path, local | config, model=cast.model, judge=judge) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("done"))
        rows = [json.loads(row.body_json) for row in await bot.store.audit.of_kind("gate")]
        decided = [row for row in rows if row["tool"] == call.tool]
        if step == "filtered":
            assert call.tool not in cast.offered["task"]
            assert decided == []
            return
        assert [row["step"] for row in decided] == [step]
        assert decided[0]["source"] in ("", "auto")
        assert (NESTED in cast.heard["go"][0]) == (step == "nested")
        assert bot.channel.cards == []


async def test_what_passes_at_the_terminal_does_not_in_a_worker(tmp_path: Path, local: Config) -> None:
    cast = Cast(
        {"go": [RUNS, CallTool("delegate_task", {"goal": "task"}), Say("done")], "task": [RUNS, Say("tried")]}
    )
    terminal, config = FakeChannel("cli"), local | {"permissions.admin_users": ["cli:local"]}
    async with running_bot(tmp_path, config, model=cast.model, channel=terminal, interactive=True) as bot:
        await terminal.say("go", sender_id="local", chat_id="local")
        await terminal.wait_for(lambda message: message.text is not None and "done" in message.text.text)
        rows = [json.loads(row.body_json) for row in await bot.store.audit.of_kind("gate")]
        assert [(row["tool"], row["step"]) for row in rows] == [
            ("exec", "cli"),
            ("delegate_task", "cli"),
            ("exec", "nested"),
        ]


async def test_tools_that_come_with_a_toolset_are_a_workers_only_when_they_are_given(
    tmp_path: Path, local: Config, says: Says
) -> None:
    toolset: FunctionToolset[object] = FunctionToolset()
    ran: list[str] = []

    @toolset.tool_plain(metadata={"risk_level": "read_only", "capabilities": ("media.read",)})
    def look(name: str) -> str:
        ran.append(name)
        return f"seen {name}"

    cast = Cast(
        {
            "go": [
                CallTool(
                    "delegate_task",
                    {"tasks": [{"goal": "with it", "tools": ["look"]}, {"goal": "without", "tools": []}]},
                ),
                Say("done"),
            ],
            "with it": [CallTool("look", {"name": "trams"}), Say("a")],
            "without": [Say("b")],
        }
    )
    config = local | OFF
    async with running_bot(tmp_path, config, model=cast.model, more_toolsets=[toolset]) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("done"))
        assert ran == ["trams"]
        assert (cast.offered["with it"], cast.offered["without"]) == (frozenset({"look"}), frozenset())


async def test_public_gateway_has_no_workers(tmp_path: Path, local: Config, says: Says) -> None:
    cast = Cast({"go": [Say("hello")]})
    config = local | {"security.profile": "public_gateway"}
    async with running_bot(tmp_path, config, model=cast.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("hello"))
        assert not cast.offered["go"] & {"delegate_task", "spawn_task"}
        await bot.channel.say("/tool delegate_task goal=x")
        await bot.channel.wait_for(says("taken away by security.profile"))
