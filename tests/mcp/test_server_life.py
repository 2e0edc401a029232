"""One server's life: connected, called, gone, connected again, and nothing left of it."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from echo_bot.execution.proctree import read_process
from echo_bot.mcp.failing import McpEnded, McpFailed
from echo_bot.mcp.server import ServerState
from echo_bot.mcp.spec import Timing
from tests.mcp.rig import QUICK, Script, eventually, tool

Running = Callable[..., Any]
LIBRARY = Path(__file__).parent / "servers" / "library.py"
ECHO = tool("echo", "Says it again.", text={"type": "string"})


def said(result: Any) -> str:
    return "\n".join(str(block["text"]) for block in result["content"])


async def test_a_program_is_started_listed_called_and_ended(running: Running, script: Script) -> None:
    script.write(ECHO, tool("add"))
    async with running() as rig:
        await rig.until(ServerState.READY)
        assert sorted(rig.server.offered) == ["mcp_git_add", "mcp_git_echo"]
        assert rig.server.status.tools == 2
        assert said(await rig.server.call("echo", {"text": "hi"})) == 'echo {"text": "hi"}'
        (start,) = [each for each in script.log if each["what"] == "start"]
    assert script.count("input ended") == 1
    assert read_process(start["pid"]) is None


async def test_one_made_with_the_python_sdk_is_called_and_heard_when_its_tools_change(
    running: Running,
) -> None:
    async with running(command=sys.executable, args=(str(LIBRARY), "stdio")) as rig:
        await rig.until(ServerState.READY)
        assert said(await rig.server.call("add", {"a": 2, "b": 3})) == "5"
        await rig.server.call("grow", {})
        await eventually(lambda: "mcp_git_subtract" in rig.server.offered)


async def test_it_sees_a_clean_environment_and_a_folder_of_its_own(
    running: Running, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script.write(tool("environment"), tool("folder"))
    monkeypatch.setenv("ECHO_BOT_CREDENTIAL_KEY", "k" * 43)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-bot")
    async with running(env={"TOKEN": "t"}) as rig:
        await rig.until(ServerState.READY)
        seen = json.loads(said(await rig.server.call("environment", {})))
        assert {"PATH", "HOME", "LANG", "TOKEN"} < set(seen)
        assert set(seen) <= {"PATH", "HOME", "LANG", "TERM", "TMPDIR", "TOKEN", "ECHO_BOT_RUN", "LC_CTYPE"}
        assert seen["TOKEN"] == "t"
        assert said(await rig.server.call("folder", {})) == str(tmp_path / "mcp" / "git")


@pytest.mark.parametrize("start", ["child", "stubborn"])
async def test_nothing_is_left_of_a_server_that_does_not_want_to_end(
    running: Running, script: Script, start: str
) -> None:
    script.write(ECHO, start=start)
    async with running() as rig:
        await rig.until(ServerState.READY)
        await script.wait_for("child" if start == "child" else "list")
        began = time.monotonic()
    assert time.monotonic() - began < 5
    pids = [each["pid"] for each in script.log if each["what"] in ("start", "child")]
    assert [pid for pid in pids if read_process(pid)] == []
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("mcp ")]


async def test_a_cancelled_call_is_cancelled_there_too(running: Running, script: Script) -> None:
    script.write(tool("slow"), ECHO)
    async with running() as rig:
        await rig.until(ServerState.READY)
        call = asyncio.create_task(rig.server.call("slow", {}))
        await script.wait_for("call")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await script.wait_for("cancelled")
        assert said(await rig.server.call("echo", {})) == "echo {}"


async def test_a_server_that_dies_in_a_call_is_reported_and_the_call_not_repeated(
    running: Running, script: Script
) -> None:
    script.write(tool("crash"), ECHO)
    async with running() as rig:
        await rig.until(ServerState.READY)
        with pytest.raises(McpEnded, match="its process ended with exit code 3"):
            await rig.server.call("crash", {})
        await script.wait_for("start", 2)
        await rig.until(ServerState.READY)
        assert said(await rig.server.call("echo", {})) == "echo {}"
    assert [each["tool"] for each in script.log if each["what"] == "call"] == ["crash", "echo"]


async def test_one_that_ends_at_once_is_tried_again_after_longer_and_longer_pauses(
    running: Running, script: Script
) -> None:
    script.write(ECHO, start="exits")
    async with running(env={"TOKEN": "hunter2-hunter2"}) as rig:
        await script.wait_for("start", 3)
        await rig.until(ServerState.FAILED)
        status = rig.server.status
        assert "exit code 7" in status.reason
        assert "cannot start: ▒▒▒" in status.reason
        assert status.next_try_at is not None
        assert "is not connected" in rig.server.problem()
        with pytest.raises(McpFailed):
            await rig.server.call("echo", {})
        script.write(ECHO)
        await rig.until(ServerState.READY)
        assert rig.server.problem() == ""


def test_pauses_double_up_to_five_minutes() -> None:
    timing = Timing()
    assert [timing.pause(failures) for failures in (1, 2, 3, 9, 10, 5000)] == [1, 2, 4, 256, 300, 300]


async def test_one_that_says_nothing_fails_in_time(running: Running, script: Script) -> None:
    script.write(ECHO, start="silent")
    async with running(timing=replace(QUICK, connect=0.3, first_pause=60.0)) as rig:
        await rig.until(ServerState.FAILED)
        assert rig.server.status.reason == "it did not answer within 0.3 s"


async def test_one_that_is_not_there_says_so(running: Running) -> None:
    async with running(command="no-such-program-anywhere", args=()) as rig:
        await rig.until(ServerState.FAILED)
        assert "no-such-program-anywhere could not be started" in rig.server.status.reason


async def test_a_changed_list_is_read_anew(running: Running, script: Script) -> None:
    script.write(tool("changes"))
    async with running() as rig:
        await rig.until(ServerState.READY)
        script.write(tool("changes"), ECHO)
        await rig.server.call("changes", {})
        await eventually(lambda: "mcp_git_echo" in rig.server.offered)


async def test_the_list_is_read_anew_from_time_to_time(running: Running, script: Script) -> None:
    script.write(ECHO)
    async with running(timing=replace(QUICK, look_again=0.1)) as rig:
        await rig.until(ServerState.READY)
        script.write(tool("other"))
        await eventually(lambda: list(rig.server.offered) == ["mcp_git_other"])


async def test_what_comes_after_an_empty_list_is_not_pinned_unasked(running: Running, script: Script) -> None:
    script.write()
    async with running(timing=replace(QUICK, look_again=0.1)) as rig:
        await rig.until(ServerState.READY)
        script.write(ECHO)
        await eventually(lambda: "mcp_git_echo" in rig.server.offered)
        assert "nobody approved" in rig.server.offered["mcp_git_echo"].standing.changed


async def test_a_busy_server_that_does_not_list_in_time_is_left_alone(
    running: Running, script: Script
) -> None:
    script.write(tool("slow"), ECHO)
    async with running(timing=replace(QUICK, look_again=0.05)) as rig:
        await rig.until(ServerState.READY)
        call = asyncio.create_task(rig.server.call("slow", {}))
        await script.wait_for("call")
        lists = script.count("list")
        await script.wait_for("list", lists + 3)
        assert script.count("start") == 1
        call.cancel()
        await asyncio.wait({call})


async def test_a_model_s_or_a_person_s_answer_is_not_to_be_had(running: Running, script: Script) -> None:
    script.write(tool("asks"))
    async with running() as rig:
        await rig.until(ServerState.READY)
        answers = json.loads(said(await rig.server.call("asks", {})))
        assert {name: answer["message"] for name, answer in answers.items()} == {
            "sampling": "Sampling not supported",
            "elicitation": "Elicitation not supported",
            "roots": "List roots not supported",
        }
    (hello,) = [each for each in script.log if each["what"] == "initialize"]
    assert hello["capabilities"] == {}


async def test_a_flood_ends_the_connection_and_the_next_one_works(running: Running, script: Script) -> None:
    script.write(tool("floods"), ECHO)
    async with running() as rig:
        await rig.until(ServerState.READY)
        with pytest.raises(McpEnded, match="too many messages"):
            await rig.server.call("floods", {})
        await script.wait_for("start", 2)
        await rig.until(ServerState.READY)
        assert said(await rig.server.call("echo", {})) == "echo {}"


async def test_without_the_package_it_says_what_to_install(
    running: Running, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script.write(ECHO)

    def missing(folder: Path) -> None:
        raise ImportError("No module named 'mcp'")

    monkeypatch.setattr("tests.mcp.conftest.load", missing)
    async with running() as rig:
        await rig.until(ServerState.FAILED)
        assert "pip install 'echo-bot[mcp]'" in rig.server.status.reason
        assert rig.server.status.next_try_at is None
    assert not script.log
