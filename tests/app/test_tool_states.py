"""Without a bot `status` says of every tool what a running bot would say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from echo_bot.app.tool_states import BUILT, Machine, tool_states
from echo_bot.config.loader import load_config
from echo_bot.config.policy import policy_settings
from echo_bot.policy.settings import ToolSettings
from echo_bot.testing.bot import running_bot
from echo_bot.tools.registry import Availability, Registry

HERE = Machine(os.environ.get("PATH", ""))


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"tools.deny": ["exec"], "security.profile": "daemon"},
        {"tools.profile": "minimal", "tools.code_exec.enabled": False},
        {"tools.allow": ["execute_code", "cronjob"], "tools.code_exec.languages": ["bash"]},
    ],
    ids=["the defaults", "a denied tool", "a profile and a subsystem", "an exclusive list"],
)
async def test_both_agree_under(tmp_path: Path, config: dict[str, object]) -> None:
    async with running_bot(tmp_path, {"tools.exec.host": "local", **config}) as bot:
        settings = bot.parts.settings.tools
        told = bot.parts.toolbox.registry.states(settings)
        assert {tool.name for tool in bot.parts.toolbox.registry} == BUILT
    assert tool_states(Registry(()), settings, HERE) == told


def test_the_defaults_need_no_configuration_to_be_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert policy_settings(load_config(None, {}).config).tools == ToolSettings()


def test_code_that_cannot_run_where_it_should_is_not_ready() -> None:
    machine = Machine(HERE.path, (False, "install bubblewrap"))
    states = {each.name: each for each in tool_states(Registry(()), ToolSettings(), machine)}
    for name in ("exec", "execute_code", "process"):
        assert (states[name].state, states[name].reason) == (Availability.NOT_READY, "install bubblewrap")
    assert states["read_file"].state is Availability.AVAILABLE


def test_without_any_interpreter_the_missing_programs_are_named(tmp_path: Path) -> None:
    states = {each.name: each for each in tool_states(Registry(()), ToolSettings(), Machine(str(tmp_path)))}
    assert states["execute_code"].state is Availability.NOT_READY
    assert "apt install nodejs" in states["execute_code"].reason
