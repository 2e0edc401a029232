"""A start in this process: what it tells of a page that is not served, of the terminal and of no sandbox."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from echo_bot.app.bot import Bot, RunOptions
from echo_bot.app.discovery import discover_channels
from echo_bot.app.enabled import enabled_channels
from echo_bot.app.toolbox import sandbox_warning
from echo_bot.config.channels import Channels
from echo_bot.config.loader import Loaded, config_from_keys
from echo_bot.errors import StartError
from echo_bot.execution.backends import Executors
from echo_bot.execution.protocol import CommandSpec, RunningProcess
from echo_bot.policy.call import Executor

pytestmark = pytest.mark.usefixtures("own_logs")


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def bot_on(folder: Path, **keys: object) -> Bot:
    (folder / "workspace").mkdir(exist_ok=True)
    dotted = {name.replace("__", "."): value for name, value in keys.items()}
    places = {"workspace": str(folder / "workspace"), "data_dir": str(folder / "state")}
    loaded = Loaded(config_from_keys(places | dotted))
    options = RunOptions(terminal=False, environ={}, headless=True)
    return Bot(loaded, discover_channels(), options)


async def test_a_page_without_a_port_is_told_and_its_channel_failed(tmp_path: Path, taken_port: int) -> None:
    telegram = {"channels__telegram__enabled": True, "channels__telegram__token": "1:x"}
    bot = bot_on(
        tmp_path,
        gateway__port=taken_port,
        channels__telegram__api_base="http://127.0.0.1:1",
        credentials__require_encryption=False,
        **telegram,
    )
    started = await bot.start()
    try:
        assert started.url == ""
        assert f"port {taken_port} on 127.0.0.1 is taken" in started.unserved
        assert bot._parts is not None
        health = bot._parts.channels.health()
        assert (health["web"].state, health["web"].error) == ("failed", started.unserved)
        assert "gateway" not in health
        assert ("web", "") not in bot._parts.channels.running()
        assert f"Channel web: failed – {started.unserved}" in await bot._parts.overview.status_text()
    finally:
        await bot.stop()


@pytest.mark.parametrize(
    "more", [{}, {"channels__telegram__enabled": True}], ids=["alone", "beside no token"]
)
async def test_a_page_without_a_port_is_refused_when_nothing_else_works(
    tmp_path: Path, taken_port: int, more: dict[str, object]
) -> None:
    with pytest.raises(StartError, match=f"port {taken_port} .* is taken"):
        await bot_on(tmp_path, gateway__port=taken_port, **more).start()


@pytest.mark.parametrize(
    ("enabled", "terminal", "headless", "opens"),
    [
        (None, True, False, True),
        (None, False, False, False),
        (True, False, False, True),
        (True, False, True, False),
        (False, True, False, False),
    ],
    ids=[
        "at a terminal the chat opens by itself",
        "without a terminal it does not",
        "asked for, it opens on pipes too",
        "a headless run opens none, whatever is asked for",
        "switched off, it does not open",
    ],
)
def test_the_terminal_chat(enabled: bool | None, terminal: bool, headless: bool, opens: bool) -> None:
    channels = Channels.model_validate({"cli": {"enabled": enabled}, "web": {"enabled": False}})
    found = [name for name, _ in enabled_channels(channels, terminal=terminal, headless=headless)]
    assert found == (["cli"] if opens else [])


async def test_a_headless_run_has_no_terminal_chat(tmp_path: Path) -> None:
    bot = bot_on(tmp_path, gateway__port=0, channels__cli__enabled=True)
    await bot.start()
    try:
        assert bot._parts is not None
        assert list(bot._parts.channels.health()) == ["web"]
    finally:
        await bot.stop()


class NoSandbox:
    kind = Executor.SANDBOX

    async def ready(self) -> tuple[bool, str]:
        return False, "bubblewrap is not installed; or set tools.exec.host to local"

    async def start(self, spec: CommandSpec, *, keep_stdin_open: bool = False) -> RunningProcess:
        raise StartError("no sandbox")

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({}, "a person is asked before code runs on this computer itself: bubblewrap is not installed"),
        ({"tools.exec.host": "sandbox"}, "so no code is run: bubblewrap is not installed"),
        ({"tools.exec.host": "local"}, ""),
        ({"tools.exec.security": "deny"}, ""),
        ({"tools.exec.enabled": False, "tools.code_exec.enabled": False}, ""),
    ],
    ids=["auto", "sandbox", "a host that was chosen", "nothing may run", "nothing is offered"],
)
async def test_without_a_sandbox_a_start_warns_under(keys: dict[str, object], says: str) -> None:
    executors = Executors([NoSandbox()])
    await executors.probe()
    said = sandbox_warning(config_from_keys(keys), executors)
    assert says in said if says else said == ""


async def test_the_warning_of_no_sandbox_stands_in_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("echo_bot.app.toolbox.SandboxExecutor", lambda layout, environment: NoSandbox())
    bot = bot_on(tmp_path, gateway__port=0)
    started = await bot.start()
    try:
        assert any("no sandbox works here" in warning for warning in started.warnings)
        assert bot._parts is not None
        assert "⚠ no sandbox works here" in await bot._parts.overview.status_text()
    finally:
        await bot.stop()


@pytest.mark.parametrize("channel", ["telegram", "discord", "slack"])
async def test_one_bot_in_two_accounts_is_connected_once(tmp_path: Path, channel: str) -> None:
    tokens = {"token": "1:x"} if channel != "slack" else {"bot_token": "xoxb-1", "app_token": "xapp-1"}
    nowhere = {"enabled": True, "api_base": "http://127.0.0.1:1"}
    if channel == "discord":
        nowhere["gateway_url"] = "ws://127.0.0.1:1"
    other = {each: f"{value}-other" for each, value in tokens.items()}
    accounts = {"a": nowhere | tokens, "b": nowhere | tokens, "c": nowhere | other}
    keys: dict[str, object] = {f"channels__{channel}__accounts": accounts}
    bot = bot_on(tmp_path, gateway__port=0, credentials__require_encryption=False, **keys)
    await bot.start()
    try:
        assert bot._parts is not None
        health = bot._parts.channels.health()
        same = {name for name, each in health.items() if "the account a has the same" in each.error}
        assert same == {f"{channel}/b"}
        assert health[f"{channel}/b"].state == "failed"
    finally:
        await bot.stop()
