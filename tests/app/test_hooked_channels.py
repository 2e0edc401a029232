"""A channel that its platform calls: served without a page too, shown by status, refused on a collision."""

from __future__ import annotations

import socket
from pathlib import Path

import httpx
import pytest

from echo_bot.app.bot import Bot, RunOptions
from echo_bot.app.discovery import Discovered
from echo_bot.channel import ChannelManifest
from echo_bot.config.loader import Loaded, config_from_keys
from echo_bot.errors import StartError

pytestmark = pytest.mark.usefixtures("own_logs")

_MODULE = """
from echo_bot.testing.fake_channel import FakeChannel

async def app(scope, receive, send):
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"heard"})

class Hooked(FakeChannel):
    def hooks(self):
        return {HOOK: app}

def build(settings):
    return Hooked("telegram", settings.account)

HOOK = %r
"""


def bot_with(folder: Path, monkeypatch: pytest.MonkeyPatch, hook: str, **more: object) -> Bot:
    name = f"hooked_{abs(hash((folder, hook)))}"
    (folder / f"{name}.py").write_text(_MODULE % hook)
    monkeypatch.syspath_prepend(str(folder))
    keys = {
        "workspace": str(folder),
        "data_dir": str(folder / "state"),
        "channels.telegram.enabled": True,
        "channels.telegram.token": "1:x",
        "channels.web.enabled": False,
        "credentials.require_encryption": False,
        "gateway.port": 0,
        **more,
    }
    manifest = ChannelManifest("telegram", "Telegram", f"{name}:build")
    options = RunOptions(terminal=False, environ={}, headless=True)
    return Bot(Loaded(config_from_keys(keys)), Discovered({"telegram": manifest}, {}), options)


async def test_hooks_are_served_without_any_page_and_status_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = bot_with(tmp_path, monkeypatch, "/telegram/in")
    started = await bot.start()
    try:
        assert started.url == ""
        assert bot._parts is not None
        [url] = bot._parts.channels.called_at()["telegram"]
        async with httpx.AsyncClient(trust_env=False, verify=False) as client:
            assert (await client.post(url, headers={"host": "bot.example.org"})).text == "heard"
        assert f"called at {url}" in await bot._parts.overview.status_text()
    finally:
        await bot.stop()


async def test_a_hook_on_a_path_of_the_gateway_is_refused_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = bot_with(tmp_path, monkeypatch, "/login/x")
    await bot.start()
    try:
        assert bot._parts is not None
        health = bot._parts.channels.health()["telegram"]
        assert health.state == "failed"
        assert "belongs to the gateway itself" in health.error
    finally:
        await bot.stop()


async def test_a_taken_port_refuses_a_start_that_could_hear_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        keys = {"gateway.port": listener.getsockname()[1], "channels.web.enabled": True}
        with pytest.raises(StartError, match="is taken"):
            await bot_with(tmp_path, monkeypatch, "/telegram/in", **keys).start()
