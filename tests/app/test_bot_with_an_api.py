"""The HTTP API of a bot as it is started: without a page too, with its status, and closed without tokens."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from echo_bot.app.bot import Bot, RunOptions
from echo_bot.app.discovery import discover_channels
from echo_bot.config.loader import Loaded, config_from_keys
from echo_bot.testing.api_bot import ADMIN, TOKENS

pytestmark = pytest.mark.usefixtures("own_logs")


def bot_on(folder: Path, keys: dict[str, object]) -> Bot:
    places: dict[str, object] = {
        "workspace": str(folder),
        "data_dir": str(folder / "state"),
        "gateway.port": 0,
    }
    options = RunOptions(terminal=False, environ={}, headless=True, status=lambda: {"running": True})
    return Bot(Loaded(config_from_keys(places | keys)), discover_channels(), options)


async def test_it_is_served_without_a_page_and_its_channel_is_running(tmp_path: Path) -> None:
    bot = bot_on(tmp_path, {**TOKENS, "channels.web.enabled": False})
    started = await bot.start()
    try:
        assert bot._gateway is not None
        headers = {"Authorization": f"Bearer {ADMIN}"}
        url = f"{bot._gateway.url}/api/v1"
        async with httpx.AsyncClient(base_url=url, headers=headers, trust_env=False, verify=False) as ops:
            assert (await ops.get("/status")).json() == {"running": True}
            assert (await ops.post("/messages", json={"text": "/help"})).status_code == 200
        assert [each for each in started.warnings if "holds readable tokens" in each] == [
            "gateway.api_tokens holds readable tokens (ci): write each as sha256: and its hash",
            "gateway.admin_tokens holds readable tokens (ops): write each as sha256: and its hash",
        ]
    finally:
        await bot.stop()


async def test_without_tokens_the_page_is_served_and_the_api_is_closed(tmp_path: Path) -> None:
    bot = bot_on(tmp_path, {})
    await bot.start()
    try:
        assert bot._gateway is not None
        async with httpx.AsyncClient(trust_env=False, verify=False) as nobody:
            answer = await nobody.get(f"{bot._gateway.url}/api/v1/whoami")
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "closed")
        assert bot._parts is not None
        assert "api" not in bot._parts.channels.health()
    finally:
        await bot.stop()
