"""`explain` for one call, `config`, and errors of the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from echo_bot.cli import VERBS, echo_bot
from echo_bot.errors import ConfigError, StartError


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No configuration and no state of whoever runs the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("ECHO_BOT_CONFIG", raising=False)


def run(*words: str) -> Result:
    return CliRunner().invoke(echo_bot, ["explain", *words])


def explained(*words: str) -> dict[str, Any]:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    row: dict[str, Any] = json.loads(result.stdout)
    return row


def test_a_call_is_explained_step_by_step() -> None:
    row = explained(
        "exec",
        '{"command": "rm -r build"}',
        "--channel",
        "telegram",
        "--sender",
        "42",
        "--executor",
        "sandbox",
    )
    assert (row["verdict"], row["step"], row["risk"], row["executor"]) == ("ask", "human", "exec", "sandbox")
    assert [step["step"] for step in row["steps"]][-1] == "human"
    assert len(row["steps"]) == 18
    assert row["offers"] == ["once", "session", "1h", "always", "deny", "deny_reason", "edit"]
    assert row["commands"] == ["rm -r build"]


def test_a_person_reads_the_verdict_first() -> None:
    result = run("exec", '{"command": "rm -rf /etc"}', "--channel", "telegram", "--executor", "sandbox")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("DENY at hard_guard: ")
    assert any(line.split() == ["human", "not", "reached"] for line in lines)


def test_what_is_shown_does_not_steer_the_terminal() -> None:
    result = run("exec", json.dumps({"command": "echo \x1b[2J\u202e"}), "--executor", "sandbox")
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout


PLAIN = ("exec", '{"command": "make"}', "--executor", "sandbox")
NOTE = "as if nobody sat at the terminal"


@pytest.mark.parametrize(
    ("words", "verdict", "noted"),
    [
        ((), "ASK at human", True),
        (("--no-interactive",), "ASK at human", True),
        (("--interactive",), "ALLOW at cli", False),
        (("--channel", "telegram"), "ASK at human", False),
        (("--channel", "telegram", "--interactive"), "ASK at human", False),
    ],
    ids=[
        "on a pipe nobody sits at the terminal",
        "nobody sits there, asked for",
        "somebody sits there, asked for",
        "on another channel it does not matter",
        "on another channel it cannot be asked for",
    ],
)
def test_whether_somebody_sits_at_the_terminal(words: tuple[str, ...], verdict: str, noted: bool) -> None:
    said = run(*PLAIN, *words).stdout
    assert said.startswith(verdict)
    assert (NOTE in said) == noted


def test_a_call_that_is_decided_alike_at_the_terminal_carries_no_note() -> None:
    assert NOTE not in run("read_file", '{"path": "a"}').stdout
    assert NOTE not in run("exec", '{"command": "rm -rf /etc"}', "--executor", "sandbox").stdout


def test_json_tells_what_was_assumed() -> None:
    assert (explained(*PLAIN)["interactive"], explained(*PLAIN)["verdict"]) == (False, "ask")
    row = explained(*PLAIN, "--interactive")
    assert (row["interactive"], row["verdict"]) == (True, "allow")


def test_the_exit_code_is_in_the_help() -> None:
    assert "Exit code 0 whatever the verdict is" in " ".join(run("--help").stdout.split())


def test_the_flags_are_the_trust_fields() -> None:
    call = ("write_file", '{"path": "a", "content": "b"}', "--channel", "telegram")
    assert explained(*call, "--unattended")["verdict"] == "deny"
    assert explained(*call, "--unattended", "--cron-authorized")["verdict"] == "allow"
    assert explained("delegate_task", '{"goal": "x"}', "--nested")["step"] == "nested"


def test_the_configuration_counts(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text("tools:\n  deny: [write_file]\n")
    row = explained("write_file", '{"path": "a", "content": "b"}', "-c", str(config))
    assert (row["verdict"], row["step"], row["reason"]) == (
        "deny",
        "filtered",
        "write_file is taken away by tools.deny",
    )


def test_a_tool_of_ones_own_is_known_by_its_declaration(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from echo_agent.tools import Tool, ToolResult\n"
        "class Mine(Tool):\n"
        "    name = 'mine'\n    risk_level = 'exec'\n"
        "    parameters = {'type': 'object', 'required': ['a']}\n"
        "    async def execute(self, params, ctx=None):\n"
        "        raise AssertionError('explaining runs nothing')\n"
    )
    config = tmp_path / "c.yaml"
    config.write_text(f"tools:\n  paths: [{tmp_path}/mine.py]\n")
    asked = ("-c", str(config), "--channel", "web")
    assert explained("mine", '{"a": "x"}', *asked)["risk"] == "exec"
    assert explained("mine", "{}", *asked)["step"] == "invalid"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "name a TOOL"),
        (["exec", "{"], "JSON_ARGS is not JSON"),
        (["exec", "{}", "--executor", "moon"], "is not one of"),
        (["exec", "{}", "--cases", __file__], "leave TOOL out"),
        (["--cases", "/nowhere"], "does not exist"),
    ],
)
def test_usage_errors_are_exit_code_2(words: list[str], says: str) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert says in result.stderr


def test_a_broken_configuration_is_an_error_of_one_line(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text("tools:\n  profile: codng\n")
    result = run("exec", "{}", "-c", str(config))
    assert isinstance(result.exception, ConfigError)
    assert str(result.exception).startswith(f"{config}:2: tools.profile: ")


def test_a_credential_without_a_key_refuses_like_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ECHO_AGENT_CREDENTIAL_KEY", raising=False)
    monkeypatch.delenv("ECHO_BOT_CREDENTIAL_KEY", raising=False)
    config = tmp_path / "c.yaml"
    config.write_text("models:\n  api_key: sk-aaaa\n")
    result = run("exec", "{}", "-c", str(config))
    assert isinstance(result.exception, StartError)
    assert "echo-bot credentials key" in str(result.exception)


def test_config_schema_is_json_schema() -> None:
    result = CliRunner().invoke(echo_bot, ["config", "schema"])
    schema = json.loads(result.stdout)
    assert schema["properties"]["workspace"]["type"] == "string"
    assert schema["additionalProperties"] is False


def python(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=60, check=False
    )


def test_help_names_every_verb() -> None:
    result = CliRunner().invoke(echo_bot, ["--help"])
    for verb, line in VERBS.items():
        assert verb in result.stdout
        assert line in result.stdout


def test_an_error_on_purpose_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    done = python(
        "from echo_bot.cli import main; main()", "config", "check", "-c", str(tmp_path / "none.yaml")
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == (
        f"echo-bot: {tmp_path}/none.yaml: cannot be read: No such file or directory"
    )
