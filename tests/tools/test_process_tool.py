"""The process tool: background processes, owned by a session and ended with it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from echo_bot.execution.background import BackgroundProcesses
from echo_bot.execution.environment import clean_environment
from echo_bot.execution.local import LocalExecutor
from echo_bot.execution.proctree import descendants, read_processes
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.testing.waiting import PATIENCE_SECONDS
from echo_bot.tools import ToolExecutionContext, ToolResult
from echo_bot.tools.builtin import process
from echo_bot.tools.builtin.process import ProcessTool, parse_signal
from echo_bot.tools.builtin.running import Placed, RunSettings


def context(session_key: str) -> ToolExecutionContext:
    return ToolExecutionContext(
        execution_id="e",
        trace_id="t",
        session_key=session_key,
        memory_scope="",
        user_id="cli:local",
        agent_id="main",
        attempt_index=0,
        idempotency_key="k",
        is_replay=False,
        parent_execution_id=None,
        credentials={},
        approved_actions=frozenset(),
        approval_source="auto",
        allowed_tools=frozenset(),
        channel="cli",
        chat_id="local",
        reply_to_id="",
        unattended=False,
        cron_authorized=False,
        inbound_event_id="i",
    )


OWN, OTHER = context("own"), context("other")


async def _shorten(ctx: ToolExecutionContext | None, name: str, text: str) -> str:
    return text if len(text) < 6000 else f"spilled as {name}"


@pytest.fixture
async def processes() -> AsyncIterator[BackgroundProcesses]:
    owned = BackgroundProcesses(max_output_chars=100_000, max_running=3)
    yield owned
    await owned.stop_all()
    assert not [p for p in descendants(read_processes(), [os.getpid()]) if p.session != os.getsid(0)]


@pytest.fixture
def tool(processes: BackgroundProcesses, tmp_path: Path) -> ProcessTool:
    executor = LocalExecutor(clean_environment({"PATH": "/usr/bin:/bin"}, home=str(tmp_path), tmpdir="/tmp"))
    return ProcessTool(
        RunSettings(str(tmp_path), timeout_seconds=1),
        processes,
        place=lambda ctx: Placed(executor),
        shorten=_shorten,
        readiness=lambda: (True, "ready"),
    )


async def start(tool: ProcessTool, command: str, ctx: ToolExecutionContext = OWN) -> str:
    result = await tool.execute({"action": "start", "command": command}, ctx)
    assert result.success, result.error
    return str(result.metadata["process_id"])


async def poll_until(tool: ProcessTool, process_id: str, wanted: str) -> str:
    """Poll until `wanted` was said; everything said so far."""
    deadline, text = time.monotonic() + PATIENCE_SECONDS, ""
    while wanted not in text and time.monotonic() < deadline:
        text += (await tool.execute({"action": "poll", "process_id": process_id}, OWN)).output
        await asyncio.sleep(0.01)
    assert wanted in text
    return text


async def test_a_process_from_start_to_stop(tool: ProcessTool) -> None:
    started = await tool.execute({"action": "start", "command": "echo up; cat"}, OWN)
    assert (await said(tool, started.output, "up")).endswith("p1: running\nup\n")
    written = await tool.execute({"action": "write", "process_id": "p1", "text": "hello\n"}, OWN)
    assert "hello" in await said(tool, written.output, "hello")
    assert await _poll(tool, "p1") == "p1: running, no new output"
    stopped = await tool.execute({"action": "stop", "process_id": "p1"}, OWN)
    assert stopped.output == "p1: killed (stop), no new output"
    listed = await tool.execute({"action": "list"}, OWN)
    assert listed.output == "p1  killed (stop)  echo up; cat"


async def said(tool: ProcessTool, first: str, wanted: str) -> str:
    """What p1 said up to `wanted`, of which `first` may be a part: a busy machine is slow to begin."""
    return first if wanted in first else await poll_until(tool, "p1", wanted)


async def _poll(tool: ProcessTool, process_id: str) -> str:
    return (await tool.execute({"action": "poll", "process_id": process_id}, OWN)).output


async def test_a_quick_end_is_reported_at_once(tool: ProcessTool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "FIRST_LOOK_SECONDS", PATIENCE_SECONDS)
    result = await tool.execute({"action": "start", "command": "echo broken >&2; exit 3"}, OWN)
    assert result.output == "p1: ended with exit code 3\nbroken\n"
    assert result.metadata == {"process_id": "p1", "running": False, "exit_code": 3}


async def test_others_processes_are_as_if_not_there(tool: ProcessTool) -> None:
    process_id = await start(tool, "cat")
    assert (await tool.execute({"action": "list"}, OTHER)).output == "no processes"
    for action in ("poll", "write", "signal", "stop"):
        params = {"action": action, "process_id": process_id, "text": "x\n", "signal": "KILL"}
        result = await tool.execute(params, OTHER)
        assert (result.success, result.error_kind) == (False, "business")
        assert "there is no process" in result.error
    assert (await _poll(tool, process_id)).startswith("p1: running")


async def test_a_signal_by_name(tool: ProcessTool) -> None:
    started = await tool.execute(
        {
            "action": "start",
            "command": "trap 'echo caught; exit 5' INT; echo up; while :; do sleep 0.01; done",
        },
        OWN,
    )
    await said(tool, started.output, "up")
    process_id = "p1"
    result = await tool.execute({"action": "signal", "process_id": process_id, "signal": "INT"}, OWN)
    text = (
        result.output if "exit code 5" in result.output else await poll_until(tool, process_id, "exit code 5")
    )
    assert "exit code 5" in text


async def test_long_output_is_spilled_under_the_process_id(
    tool: ProcessTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "FIRST_LOOK_SECONDS", PATIENCE_SECONDS)
    result = await tool.execute({"action": "start", "command": "seq 3000"}, OWN)
    assert result.output == "p1: ended with exit code 0\nspilled as process-p1"


async def test_a_session_runs_only_so_many(tool: ProcessTool) -> None:
    results = await asyncio.gather(
        *(tool.execute({"action": "start", "command": "sleep 60"}, OWN) for _ in range(5))
    )
    assert [result.success for result in results].count(True) == 3
    refused = next(result for result in results if not result.success)
    assert (refused.error_kind, "stop one first" in refused.error) == ("business", True)
    assert (await tool.execute({"action": "start", "command": "true"}, OTHER)).success


async def test_a_session_ends_its_own_but_the_kept(tool: ProcessTool, processes: BackgroundProcesses) -> None:
    ended, kept, others = await start(tool, "cat"), await start(tool, "cat"), await start(tool, "cat", OTHER)
    owned = processes.find("own", kept)
    assert owned is not None
    owned.is_kept = True
    assert await processes.stop_session("own") == 1
    states = {each.process_id: each.is_running for key in ("own", "other") for each in processes.of(key)}
    assert states == {ended: False, kept: True, others: True}
    assert await processes.stop_all() == 2


_TYPED = (
    ("rm -r", "rm -r"),
    ("f /", "rm -rf /"),
    ("x\nls", "ls"),
    (" \\\n", "ls \\\n"),
    ("/\n", ""),
    ("echo \\\\\n", ""),
    ("\n", ""),
)
"""What is typed, and what then stands on the line: a break after one backslash does not end it."""


async def test_what_was_typed_since_the_last_newline_is_known(
    tool: ProcessTool, processes: BackgroundProcesses
) -> None:
    process_id = await start(tool, "cat")
    for text, typed in _TYPED:
        await tool.execute({"action": "write", "process_id": process_id, "text": text}, OWN)
        assert processes.typed_before(process_id) == typed
    assert processes.typed_before("p99") == ""


async def test_input_nobody_reads_ends_in_a_timeout(tool: ProcessTool) -> None:
    process_id = await start(tool, "sleep 60")
    params = {"action": "write", "process_id": process_id, "text": "x" * 500_000}
    assert (await tool.execute(params, OWN)).error_kind == "timeout"


async def test_finished_processes_are_forgotten_in_time(
    tool: ProcessTool, processes: BackgroundProcesses
) -> None:
    for _ in range(24):
        await start(tool, "true")
    assert len(processes.of("own")) == 20 + 1


@pytest.mark.parametrize(
    ("params", "kind", "said"),
    [
        ({"action": "start"}, "validation", "needs a command"),
        ({"action": "start", "command": "true", "cwd": "nowhere"}, "validation", "does not exist"),
        ({"action": "poll"}, "validation", "process_id is needed"),
        ({"action": "poll", "process_id": "p9"}, "business", "no process 'p9'"),
        ({"action": "write", "process_id": "p1"}, "validation", "needs a text"),
        ({"action": "signal", "process_id": "p1", "signal": "NOPE"}, "validation", "'NOPE' is no signal"),
    ],
)
async def test_what_is_wrong_is_said(
    params: dict[str, object], kind: str, said: str, tool: ProcessTool
) -> None:
    await start(tool, "cat")
    result = await tool.execute(params, OWN)
    assert (result.success, result.error_kind) == (False, kind)
    assert said in result.error


@pytest.mark.parametrize("action", ["write", "signal"])
async def test_an_ended_process_takes_nothing(action: str, tool: ProcessTool) -> None:
    process_id = await start(tool, "true")
    result: ToolResult = await tool.execute({"action": action, "process_id": process_id, "text": "x"}, OWN)
    assert result.error == "p1 has ended with exit code 0"


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("INT", 2),
        ("sigterm", 15),
        (9, 9),
        ("15", 15),
        ("0", None),
        ("", None),
        ("SIG", None),
        (-9, None),
        (999, None),
    ],
)
def test_signals_by_name_and_number(value: object, number: int | None) -> None:
    assert parse_signal(value) == number


def test_it_declares_what_the_catalogue_says(tool: ProcessTool) -> None:
    entry = CATALOGUE["process"]
    assert frozenset(tool.capabilities) == entry.capabilities
    assert tool.parameters == entry.parameters
