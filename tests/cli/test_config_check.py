from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from echo_bot.config.key_variable import KEY_VARIABLE
from echo_bot.credentials import Key, Vault
from echo_bot.storage.store import SqlStore
from echo_bot.testing.command_line import CommandLine

KEY = Key(bytes(range(32)))


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (KEY_VARIABLE, "ECHO_AGENT_CREDENTIAL_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "c.yaml"


def test_every_error_of_a_file_is_told(command_line: CommandLine, config: Path) -> None:
    config.write_text(
        "languag: en\n"
        "tools:\n  profil: full\n"
        "agent:\n  max_iterations: many\n"
        "observability:\n  otel_endpoint: http://h\n"
        'permissions:\n  admin_users: ["*"]\n'
    )
    answer = command_line("config", "check", str(config))
    assert (answer.code, answer.out) == (2, "")
    lines = answer.err.splitlines()
    keys = [
        "languag",
        "tools.profil",
        "agent.max_iterations",
        "permissions.admin_users",
        "observability.otel_endpoint",
    ]
    assert {key for key in keys if any(f": {key}: " in line for line in lines)} == set(keys)
    assert len(lines) == 5
    row = json.loads(command_line("config", "check", "--json", "-c", str(config)).out)
    assert (len(row["errors"]), row["file"]) == (5, str(config))


def test_an_mcp_server_that_cannot_begin_is_told(command_line: CommandLine, config: Path) -> None:
    config.write_text(
        "tools: {mcp_servers: {notes: {command: no-such-program}, off: {command: no, enabled: false}}}\n"
    )
    answer = command_line("config", "check", str(config))
    assert answer.code == 0
    assert "MCP server notes is not started: its program no-such-program is not there" in answer.out
    assert "off" not in answer.out


def test_one_value_wrong_in_two_ways_is_one_error(command_line: CommandLine, config: Path) -> None:
    config.write_text("gateway: {port: [1]}\ntools: {deny: {a: 1}}\n")
    assert len(command_line("config", "check", str(config)).err.splitlines()) == 2


def test_everything_that_a_start_would_say_is_told(
    command_line: CommandLine, config: Path, tmp_path: Path
) -> None:
    (tmp_path / "bad.py").write_text("raise RuntimeError('no network')\n")
    config.write_text(
        "models: {default: 'openai:gpt-4.1'}\n"
        "channels: {telegram: {enabled: true}}\n"
        f"tools: {{paths: [{tmp_path}/bad.py]}}\n"
    )
    answer = command_line("config", "check", str(config))
    assert (answer.code, answer.err) == (0, "")
    assert "no key for openai:gpt-4.1: set models.api_key (ECHO_BOT_MODELS__API_KEY)" in answer.out
    assert answer.out.count("no key for") == 1
    assert "warning: channel telegram: " in answer.out
    assert f"{tmp_path}/bad.py cannot be loaded: RuntimeError: no network" in answer.out
    assert not command_line.data_dir.exists()


def test_a_package_that_is_missing_is_named(
    command_line: CommandLine, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai.models.anthropic", None)
    config.write_text("models: {default: 'anthropic:claude', api_key: ''}\n")
    said = command_line("config", "check", str(config)).out
    assert "the package for anthropic:claude is not installed" in said
    assert "pip install -c constraints.txt -e '.[anthropic]'" in said
    assert "pip install 'echo-bot[anthropic]'" in said


def test_a_credential_without_a_key_is_refused_beside_the_rest(
    command_line: CommandLine, config: Path
) -> None:
    config.write_text(
        "models: {default: 'openai:gpt-4.1', api_key: hunter2hunter2}\ntools: {paths: [x.py]}\n"
    )
    answer = command_line("config", "check", str(config))
    assert answer.code == 2
    assert "models.api_key holds a credential and no key is set" in answer.err
    assert "set the one you keep, or make one" in answer.err
    assert "x.py, which is not a Python file" in answer.out
    assert "hunter2" not in answer.out + answer.err
    command_line.environ[KEY_VARIABLE] = ""
    assert f"{KEY_VARIABLE} is set but empty" in command_line("config", "check", str(config)).err
    command_line.environ[KEY_VARIABLE] = KEY.reveal()
    answer = command_line("config", "check", str(config))
    assert (answer.code, answer.err) == (0, "")
    assert "models.api_key stands readable in" in answer.out
    assert "doctor --move-credentials" in answer.out


def test_stored_values_count(command_line: CommandLine, config: Path) -> None:
    async def keep(store: SqlStore) -> None:
        from datetime import UTC, datetime

        vault = Vault(store.sealed, KEY, lambda: datetime.now(UTC))
        await vault.set("models", "api_key", "sk-0123456789")

    command_line.with_store(keep)
    config.write_text("models: {default: 'openai:gpt-4.1'}\n")
    answer = command_line("config", "check", str(config))
    assert answer.code == 2
    assert "credentials are stored encrypted (models.api_key)" in answer.err
    assert "no key for openai" not in answer.out
    command_line.environ[KEY_VARIABLE] = KEY.reveal()
    answer = command_line("config", "check", str(config))
    assert (answer.code, answer.err) == (0, "")
    assert "no key for openai" not in answer.out


def test_where_values_come_from(command_line: CommandLine, config: Path) -> None:
    command_line.environ["ECHO_BOT_GATEWAY__PORT"] = "0"
    config.write_text("{}\n")
    answer = command_line("config", "check", "-c", str(config))
    assert (answer.code, answer.err) == (0, "")
    assert f"{config}: ok" in answer.out
    assert "gateway.port is set by the environment" in answer.out


def test_a_file_named_twice_must_be_one(command_line: CommandLine, config: Path) -> None:
    config.write_text("{}\n")
    assert command_line("config", "check", str(config), "-c", "other.yaml").code == 2
    assert command_line("config", "check", str(config), "-c", str(config)).code == 0


def test_a_file_that_is_not_there(command_line: CommandLine, config: Path) -> None:
    answer = command_line("config", "check", str(config))
    assert (answer.code, answer.out) == (2, "")
    assert "cannot be read: No such file or directory" in answer.err


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("channels:\n\ttelegram: {}\n", "indented with blanks, never with tabs"),
        (
            "channels:\n  telegram:\n   enabled: true\n    token: x\n",
            "is the line indented as the keys beside it",
        ),
        ("channels: {telegram: {allow_from: 42}}\n", "must be a list, such as [a, b]"),
        ('gateway: {port: "8765"}\n', "must be a whole number, without quotes"),
        ('channels: {telegram: {enabled: "true"}}\n', "must be true or false, without quotes"),
        (
            "channels: {telegram: {accounts: {my bot: {}}}}\n",
            "letters a to z, digits and _ - (no blanks)",
        ),
    ],
)
def test_a_usual_mistake_is_told_with_what_to_write(
    command_line: CommandLine, config: Path, written: str, says: str
) -> None:
    config.write_text(written)
    answer = command_line("config", "check", str(config))
    assert answer.code == 2
    assert says in answer.err
