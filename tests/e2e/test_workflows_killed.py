"""`kill -9` at any moment of a workflow: what is done stays done, no step runs twice, and the end is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from echo_bot.testing.telegram import TelegramEmulator
from echo_bot.testing.waiting import eventually

pytestmark = pytest.mark.e2e

StartBot = Callable[..., Awaitable[Any]]


def config_of(telegram: TelegramEmulator) -> dict[str, object]:
    return {
        "tools": {"exec": {"host": "local"}},
        "permissions": {"admin_users": ["telegram:42"], "approval": {"mode": "off"}},
        "channels": {
            "telegram": {"enabled": True, "allow_from": ["42"], "api_base": telegram.url},
            "web": {"enabled": False},
        },
    }


def chain(length: int) -> list[dict[str, object]]:
    """Steps one after the other, each of which leaves one line when it begins and takes a moment."""
    return [
        {
            "id": f"s{number}",
            "tool": "exec",
            "args": {"command": f"echo {number} >> log; sleep 0.15"},
            "on_failure": "continue",
            "needs": [f"s{number - 1}"] if number else [],
        }
        for number in range(length)
    ]


async def test_random_kills_repeat_no_step_and_lose_no_run(tmp_path: Path, start_bot: StartBot) -> None:
    async with TelegramEmulator() as telegram:
        token = {"ECHO_BOT_CHANNELS__TELEGRAM__TOKEN": telegram.token}
        ada = telegram.user(42, "Ada").chat()
        bot = await start_bot(config_of(telegram), **token)
        steps = {"action": "create", "name": "long", "steps": chain(12)}
        ada.say(f"/tool workflow {json.dumps(steps)}")
        await ada.wait_for_text("Workflow long created")
        ada.say("/tool workflow action=start name=long")
        log = tmp_path / "workspace" / "log"
        await eventually(log.exists, "the first step", 20)
        await ada.wait_for_text("· s11")
        for pause in (0.05, 0.4, 0.22):
            await asyncio.sleep(pause)
            bot.kill()
            await bot.process.wait()
            bot = await start_bot(config_of(telegram), **token)
        shown = await ada.wait_for_text("Workflow long is done", timeout=60)
        lines = log.read_text().split()
        assert lines == sorted(set(lines), key=int)
        unknown = sum(line.startswith("?") for line in shown.text.splitlines())
        assert unknown <= 3
        ran = sum(line.startswith("✓") for line in shown.text.splitlines())
        assert ran + unknown == 12
        assert ran <= len(lines) <= 12
        left = [m for m in ada.from_bot if "… s" in m.text or "· s" in m.text]
        assert left == [], "the message that showed it as it ran is the one that says its end"
        assert await bot.stop() == 0
