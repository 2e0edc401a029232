from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echo_bot import __version__
from echo_bot.bus.process import ProcessId
from echo_bot.bus.sqlite import SqliteBus
from echo_bot.storage.peek import RUNTIME
from echo_bot.storage.store import SqlStore
from echo_bot.testing.command_line import CommandLine

ME = ProcessId.current()
STARTED = datetime.now(UTC) - timedelta(hours=1)
CHANNEL = {"name": "telegram", "state": "failed", "error": "the token is wrong", "last_event_at": ""}
TOOLS = [
    {"name": "exec", "state": "available", "reason": ""},
    {"name": "web_search", "state": "filtered", "reason": "execution.network_policy"},
]


def start_bot(command_line: CommandLine, process: ProcessId = ME, **health: object) -> None:
    """Leave what a running bot leaves."""
    facts = {"pid": process.pid, "process": str(process), "started_at": STARTED.isoformat(), **health}

    async def leave(store: SqlStore) -> None:
        await store.values.put(RUNTIME, "health", json.dumps(facts))
        bus = SqliteBus(store.path, lambda: datetime.now(UTC))
        await bus.open()
        await bus.lease("bot", str(process), 15)
        await bus.close()

    command_line.with_store(leave)


def status(command_line: CommandLine) -> dict[str, object]:
    answer = command_line("status", "--json")
    assert answer.code == 0
    found = json.loads(answer.out)
    assert isinstance(found, dict)
    return found


def test_where_nothing_ever_ran_everything_is_told_and_nothing_made(command_line: CommandLine) -> None:
    found = status(command_line)
    assert (found["version"], found["running"], found["pid"]) == (__version__, False, None)
    assert found["database"] == str(command_line.database)
    assert "not running" in command_line("status").out
    assert not command_line.data_dir.exists()


def test_without_a_bot_the_tools_are_judged_by_the_configuration(command_line: CommandLine) -> None:
    command_line.environ["ECHO_BOT_TOOLS__DENY"] = '["exec"]'
    rows = status(command_line)["tools"]
    assert isinstance(rows, list)
    states = {row["name"]: (row["state"], row["reason"]) for row in rows}
    assert states["exec"] == ("filtered", "tools.deny")
    assert states["web_search"] == ("filtered", "execution.network_policy")
    assert states["agents_list"][0] == "reserved"
    assert states["read_file"][0] == "unknown"


def test_a_running_bot_tells_of_itself(command_line: CommandLine) -> None:
    start_bot(
        command_line, url="http://127.0.0.1:8765", channels=[CHANNEL], tools=TOOLS, warnings=["open to all"]
    )
    found = status(command_line)
    assert (found["running"], found["pid"], found["url"]) == (True, os.getpid(), "http://127.0.0.1:8765")
    assert found["channels"] == [CHANNEL]
    assert found["tools"] == TOOLS
    lines = command_line("status").out.splitlines()
    assert lines[0].endswith("at http://127.0.0.1:8765")
    assert "Channel telegram: failed, the token is wrong" in lines
    assert "Tools: exec" in lines
    assert "Tools filtered (execution.network_policy): web_search" in lines
    assert lines[-1] == "Warning: open to all"


def test_a_bot_that_was_killed_is_not_running_and_its_account_is_old(command_line: CommandLine) -> None:
    start_bot(command_line, replace(ME, started="1"), channels=[CHANNEL])
    found = status(command_line)
    assert (found["running"], found["channels"], found["url"]) == (False, [], "")


def test_the_account_of_an_earlier_bot_is_not_taken_for_the_running_one(command_line: CommandLine) -> None:
    start_bot(command_line, process=ME, url="http://old")
    start_bot(command_line, replace(ME, started="1"), url="http://older")
    found = status(command_line)
    assert (found["running"], found["url"]) == (True, "")


@pytest.mark.parametrize(
    ("written", "changed"), [(STARTED - timedelta(1), False), (STARTED + timedelta(minutes=1), True)]
)
def test_a_configuration_written_after_the_start_is_told(
    command_line: CommandLine, tmp_path: Path, written: datetime, changed: bool
) -> None:
    path = tmp_path / "bot.yaml"
    path.write_text("language: en\n")
    os.utime(path, (written.timestamp(), written.timestamp()))
    start_bot(command_line, config=str(path))
    assert status(command_line)["config_changed"] is changed
    assert ("restart to apply" in command_line("status").out) is changed


def test_a_broken_configuration_is_exit_code_two(command_line: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "bot.yaml"
    path.write_text("tools: {profil: full}\n")
    answer = command_line("status", "-c", str(path))
    assert answer.code == 2
    assert f"{path}:1" in answer.err
