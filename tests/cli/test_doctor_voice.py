"""`echo-bot doctor` on voice messages: nothing set, set, set wrongly, switched off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from echo_bot.config.key_variable import KEY_VARIABLE
from echo_bot.testing.command_line import CommandLine

VOICE = "voice"


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        pytest.param({}, [("note", "voice messages stay files: nothing transcribes them")], id="nothing set"),
        pytest.param(
            {"API_BASE": "http://127.0.0.1:9/v1"},
            [("ok", "voice messages are transcribed at http://127.0.0.1:9/v1")],
            id="a server of one's own",
        ),
        pytest.param(
            {"API_KEY": "sk-0123456789abcdef"},
            [("ok", "voice messages are transcribed at https://api.openai.com/v1")],
            id="a key for OpenAI",
        ),
        pytest.param(
            {"API_BASE": "http://some where/v1"},
            [("weak", "voice messages cannot be transcribed")],
            id="no address",
        ),
        pytest.param(
            {"API_BASE": "http://127.0.0.1:9/v1", "PRICE_PER_MINUTE": "0.006"},
            [("ok", "voice messages are transcribed at http://127.0.0.1:9/v1")],
            id="a price",
        ),
        pytest.param({"ENABLED": "false", "API_BASE": "http://127.0.0.1:9/v1"}, [], id="switched off"),
    ],
)
def test_what_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], found: list[tuple[str, str]]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in (KEY_VARIABLE, "ECHO_AGENT_CREDENTIAL_KEY", "ECHO_BOT_CONFIG", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    line = CommandLine(tmp_path)
    line.environ |= {"ECHO_BOT_GATEWAY__PORT": "0", "ECHO_BOT_TOOLS__EXEC__HOST": "local"}
    line.environ |= {f"ECHO_BOT_TOOLS__STT__{name}": value for name, value in variables.items()}
    rows = json.loads(line("doctor", "--json").out)["findings"]
    assert [(each["severity"], each["what"]) for each in rows if each["area"] == VOICE] == found


def test_a_limit_of_cost_that_cannot_be_kept_is_named_with_the_key_of_the_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (KEY_VARIABLE, "ECHO_AGENT_CREDENTIAL_KEY", "ECHO_BOT_CONFIG", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    line = CommandLine(tmp_path)
    line.environ |= {"ECHO_BOT_GATEWAY__PORT": "0", "ECHO_BOT_TOOLS__EXEC__HOST": "local"}
    line.environ |= {
        "ECHO_BOT_TOOLS__STT__API_BASE": "http://127.0.0.1:9/v1",
        "ECHO_BOT_MODELS__LIMITS__COST_PER_DAY": "1",
    }
    [found] = [each for each in json.loads(line("doctor", "--json").out)["findings"] if each["area"] == VOICE]
    assert (found["severity"], found["what"]) == ("weak", "voice messages cannot be transcribed")
    assert "Set tools.stt.price_per_minute" in found["fix"]
