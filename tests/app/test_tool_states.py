"""Without a bot `status` says of every tool what a running bot would say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from echo_bot.app.rehearsal import NothingStored
from echo_bot.app.tool_states import default_states, tools_of_a_start
from echo_bot.config.loader import Loaded, config_from_keys, load_config
from echo_bot.config.policy import policy_settings
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.settings import ToolSettings
from echo_bot.storage.store import SqlStore, sqlite_url
from echo_bot.testing.bot import running_bot
from echo_bot.tools.registry import Availability, ToolState

PATH = os.environ.get("PATH", "")


async def rehearsed(folder: Path, keys: dict[str, object]) -> dict[str, ToolState]:
    """What `status` says of a start with these keys, which makes nothing in `folder`."""
    places = {"workspace": str(folder), "data_dir": str(folder / "none")}
    loaded = Loaded(config_from_keys({**places, **keys}))
    store = SqlStore(sqlite_url(folder / "none" / "echo-bot.db"))
    found = await tools_of_a_start(loaded, (), store, NothingStored(), {})
    await store.close()
    assert not (folder / "none").exists()
    return {each.name: each for each in found.states}


async def test_the_defaults_are_what_a_bot_without_a_configuration_says(tmp_path: Path) -> None:
    async with running_bot(tmp_path, {"tools.exec.host": "local"}) as bot:
        told = bot.parts.toolbox.registry.states(bot.parts.settings.tools)
        assert {tool.name for tool in bot.parts.toolbox.registry} == set(CATALOGUE)
    assert default_states(PATH) == told


@pytest.mark.parametrize(
    "config",
    [
        {"tools.deny": ["exec"], "security.profile": "daemon"},
        {"tools.profile": "minimal", "tools.code_exec.enabled": False},
        {"tools.allow": ["execute_code", "cronjob"], "tools.code_exec.languages": ["bash"]},
        {"execution.network_policy": "allow", "tools.web.enabled": True},
    ],
    ids=["a denied tool", "a profile and a subsystem", "an exclusive list", "the network"],
)
async def test_both_agree_under(tmp_path: Path, config: dict[str, object]) -> None:
    keys = {"tools.exec.host": "local", **config}
    async with running_bot(tmp_path, keys) as bot:
        told = bot.parts.toolbox.registry.states(bot.parts.settings.tools)
    assert tuple((await rehearsed(tmp_path, keys)).values()) == told


def test_the_defaults_need_no_configuration_to_be_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert policy_settings(load_config(None, {}).config).tools == ToolSettings()


async def test_code_that_cannot_run_where_it_should_is_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    states = await rehearsed(tmp_path, {"tools.exec.host": "sandbox"})
    for name in ("exec", "execute_code", "process"):
        assert states[name].state is Availability.NOT_READY
        assert "bubblewrap" in states[name].reason
    assert states["read_file"].state is Availability.AVAILABLE


def test_without_any_interpreter_the_missing_programs_are_named(tmp_path: Path) -> None:
    states = {each.name: each for each in default_states(str(tmp_path))}
    assert states["execute_code"].state is Availability.NOT_READY
    assert "apt install nodejs" in states["execute_code"].reason
