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
from echo_bot.config.fingerprint import environment_digest, file_digest
from echo_bot.storage.peek import RUNTIME
from echo_bot.storage.store import SqlStore
from echo_bot.testing.command_line import CommandLine

ME = ProcessId.current()
OWN_TOOL = """
from echo_bot.tools import Tool, ToolResult

class Own(Tool):
    name = "{name}"

    async def execute(self, params, ctx=None):
        return ToolResult(success=True)
"""
STARTED = datetime.now(UTC) - timedelta(hours=1)
CHANNEL = {"name": "telegram", "state": "failed", "error": "the token is wrong", "last_event_at": ""}
TOOLS = [
    {"name": "exec", "state": "available", "reason": ""},
    {"name": "web_search", "state": "filtered", "reason": "execution.network_policy"},
]


def start_bot(command_line: CommandLine, process: ProcessId = ME, **health: object) -> None:
    """Leave what a running bot leaves."""
    facts = {
        "version": __version__,
        "pid": process.pid,
        "process": str(process),
        "started_at": STARTED.isoformat(),
        "config": "",
        "config_digest": "",
        **health,
    }

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
    assert states["read_file"] == ("available", "")
    assert states["cronjob"] == ("available", "")


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
    assert "Tools filtered by execution.network_policy: web_search" in lines
    assert lines[-1] == "Warning: open to all"


def test_a_bot_that_hangs_is_running_and_does_not_speak_for_itself(command_line: CommandLine) -> None:
    start_bot(command_line, at=(datetime.now(UTC) - timedelta(minutes=5)).isoformat(), channels=[CHANNEL])
    assert "told nothing of itself for 5 min" in command_line("status").out.splitlines()[1]
    now = datetime.now(UTC).isoformat()
    start_bot(command_line, at=now, channels=[CHANNEL])
    assert status(command_line)["told_at"] == now
    assert "told nothing" not in command_line("status").out


def test_a_bot_that_was_killed_is_not_running_and_its_account_is_old(command_line: CommandLine) -> None:
    start_bot(command_line, replace(ME, started="1"), channels=[CHANNEL])
    found = status(command_line)
    assert (found["running"], found["channels"], found["url"]) == (False, [], "")


def test_the_account_of_an_earlier_bot_is_not_taken_for_the_running_one(command_line: CommandLine) -> None:
    start_bot(command_line, process=ME, url="http://old")
    start_bot(command_line, replace(ME, started="1"), url="http://older")
    found = status(command_line)
    assert (found["running"], found["url"]) == (True, "")


def test_a_configuration_changed_after_the_start_is_told(command_line: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "bot.yaml"
    path.write_text("language: en\n")
    start_bot(command_line, config=str(path), config_digest=file_digest(b"language: en\n"))
    path.touch()
    assert status(command_line)["config_changed"] is False
    assert "restart to apply" not in command_line("status").out
    path.write_text("language: zh\n")
    found = status(command_line)
    assert (found["config_changed"], found["config_refusal"]) == (True, "")
    assert "(changed since the start: restart to apply)" in command_line("status").out
    path.unlink()
    assert status(command_line)["config_changed"] is True


def test_a_change_that_a_restart_would_refuse_is_told_while_the_bot_runs(
    command_line: CommandLine, tmp_path: Path
) -> None:
    path = tmp_path / "bot.yaml"
    path.write_text("tools: {profil: full}\n")
    start_bot(command_line, config=str(path), config_digest=file_digest(b"language: en\n"))
    answer = command_line("status")
    assert answer.code == 0
    assert f"A restart would refuse it: {path}:1: tools.profil: " in answer.out
    assert "did you mean profile" in answer.out


def test_a_bot_started_without_a_file_hears_of_a_new_one(command_line: CommandLine, tmp_path: Path) -> None:
    start_bot(command_line)
    assert status(command_line)["config_changed"] is False
    (tmp_path / "config" / "echo-bot").mkdir(parents=True)
    (tmp_path / "config" / "echo-bot" / "config.yaml").write_text("language: en\n")
    assert status(command_line)["config_changed"] is True


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tools: {profil: full}\n", ":1: tools.profil: "),
        ("tools:\n  profile: [\n", "not valid YAML"),
        ("data_dir: 5\n", ":1: data_dir: must be text"),
        ("workspace: /\n", ":1: workspace: "),
    ],
    ids=["an unknown key", "no YAML", "a wrong type", "the whole file system"],
)
def test_a_configuration_that_no_start_accepted_is_checked(
    command_line: CommandLine, tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "bot.yaml"
    path.write_text(text)
    answer = command_line("status", "-c", str(path))
    assert answer.code == 2
    assert len(answer.err.splitlines()) == 1
    assert says in answer.err


def test_what_the_last_bot_of_this_configuration_said_still_counts(
    command_line: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bot.yaml"
    path.write_text("language: en\n")
    monkeypatch.setenv("ECHO_BOT_DATA_DIR", str(command_line.data_dir))
    facts = {
        "config": str(path),
        "config_digest": file_digest(path.read_bytes()),
        "environment_digest": environment_digest(os.environ),
        "tools": TOOLS,
        "warnings": ["no sandbox"],
        "configured_model": "openai:gpt-4.1",
    }
    start_bot(command_line, replace(ME, started="1"), **facts)
    lines = command_line("status", "-c", str(path)).out.splitlines()
    assert lines[-1] == "Warning (at the last start): no sandbox"
    assert "Model: openai:gpt-4.1" in lines
    answer = json.loads(command_line("status", "--json", "-c", str(path)).out)
    assert (answer["running"], answer["tools"], answer["warnings"]) == (False, TOOLS, ["no sandbox"])
    assert (answer["warnings_at_last_start"], answer["configured_model"]) == (True, "openai:gpt-4.1")
    path.write_text("tools: {deny: [exec]}\n")
    answer = json.loads(command_line("status", "--json", "-c", str(path)).out)
    assert {"name": "exec", "state": "filtered", "reason": "tools.deny"} in answer["tools"]
    assert (answer["warnings"], answer["warnings_at_last_start"]) == ([], False)


@pytest.mark.parametrize(
    ("used", "line"),
    [
        ("openai:gpt-4.1", "Model: openai:gpt-4.1"),
        ("", "Model: none, openai:gpt-4.1 cannot be used (direct calls only)"),
    ],
    ids=["the model in use", "a configured one that cannot be used"],
)
def test_a_running_bot_shows(command_line: CommandLine, used: str, line: str) -> None:
    start_bot(command_line, model=used, configured_model="openai:gpt-4.1")
    assert line in command_line("status").out.splitlines()


def test_without_a_bot_the_configured_model_is_shown(command_line: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "bot.yaml"
    path.write_text("models: {default: 'openai:gpt-4.1'}\n")
    assert "Model: openai:gpt-4.1" in command_line("status", "-c", str(path)).out.splitlines()


def test_own_tools_count_without_a_bot_and_broken_ones_are_warned_of(
    command_line: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "good.py").write_text(OWN_TOOL.format(name="weather"))
    (tmp_path / "taken.py").write_text(OWN_TOOL.format(name="exec"))
    (tmp_path / "bad.py").write_text("raise RuntimeError('no network')\n")
    path = tmp_path / "bot.yaml"
    path.write_text(f"tools: {{paths: [{tmp_path}/bad.py, {tmp_path}/taken.py, {tmp_path}/good.py]}}\n")
    answer = json.loads(command_line("status", "--json", "-c", str(path)).out)
    assert {"name": "weather", "state": "available", "reason": ""} in answer["tools"]
    bad, taken = answer["warnings"]
    assert bad == f"the tool file {tmp_path}/bad.py cannot be loaded: RuntimeError: no network"
    assert taken.startswith(f"{tmp_path}/taken.py: a tool cannot be named 'exec'")


def test_what_models_used_today_is_told_of_the_running_bot_alone(command_line: CommandLine) -> None:
    used = {"day": "2026-01-02", "answers": 2, "line": "2 answers, 10 tokens read, 4 written, cost unknown"}
    start_bot(command_line, models_today=used)
    assert status(command_line)["models_today"] == used
    assert "Models today: 2 answers, 10 tokens read, 4 written, cost unknown" in command_line("status").out


def test_of_a_bot_that_does_not_run_nothing_is_told_of_models(command_line: CommandLine) -> None:
    assert status(command_line)["models_today"] is None
