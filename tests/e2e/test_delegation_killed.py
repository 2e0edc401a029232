"""`kill -9` of the real bot while workers work: no command runs twice, and the answer comes all the same."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from echo_bot.testing.model_server import Body, ModelServer, Served
from echo_bot.testing.scripted_model import CallTool, Say
from echo_bot.testing.telegram import TelegramEmulator
from echo_bot.testing.waiting import eventually

pytestmark = pytest.mark.e2e

StartBot = Callable[..., Awaitable[Any]]

GOALS = ("task one", "task two", "task three")


def step(goal: str, number: int) -> CallTool:
    return CallTool("exec", {"command": f"echo {goal}, {number} >> log; sleep 0.1"})


SCRIPTS: dict[str, list[Served]] = {
    "please": [CallTool("delegate_task", {"tasks": list(GOALS)}), Say("everything is done")],
    **{goal: [*(step(goal, number) for number in range(4)), Say(f"{goal} is over")] for goal in GOALS},
}


def played(body: Body) -> Served:
    """The next step of whichever turn asks."""
    answered = 0
    for message in reversed(body["messages"]):
        answered += int(message["role"] == "assistant")
        text = str(message["content"])
        name = next((each for each in SCRIPTS if each in text), None)
        if message["role"] == "user" and name is not None:
            return SCRIPTS[name][answered]
    raise LookupError(str(body["messages"]))


async def test_random_kills_repeat_no_workers_command_and_lose_no_answer(
    tmp_path: Path, start_bot: StartBot
) -> None:
    async with TelegramEmulator() as telegram, ModelServer(otherwise=played).serving() as model:
        config = {
            "tools": {"exec": {"host": "local"}},
            "permissions": {"admin_users": ["telegram:42"], "approval": {"mode": "off"}},
            "models": {"default": "openai:scripted", "base_url": model.base_url, "api_key": "sk-test"},
            "workers": {"max_parallel": 2},
            "channels": {
                "telegram": {"enabled": True, "allow_from": ["42"], "api_base": telegram.url},
                "web": {"enabled": False},
            },
        }
        variables = {
            "ECHO_BOT_CHANNELS__TELEGRAM__TOKEN": telegram.token,
            "ECHO_BOT_CREDENTIAL_KEY": "a" * 42 + "E=",
        }
        ada = telegram.user(42, "Ada").chat()
        log = tmp_path / "workspace" / "log"
        bot = await start_bot(config, **variables)
        ada.say("please")
        await eventually(log.exists, "the first command", 30)
        for pause in (0.0, 0.17, 0.4):
            await asyncio.sleep(pause)
            bot.kill()
            await bot.process.wait()
            bot = await start_bot(config, **variables)
        await ada.wait_for_text("everything is done", timeout=60)
        lines = log.read_text().splitlines()
        assert len(lines) == len(set(lines)), lines
        told = [
            str(message["content"])
            for body in model.requests
            for message in body["messages"]
            if message["role"] == "tool"
        ]
        unknown = {text for text in told if "Outcome unknown" in text}
        is_whole = len(lines) == 4 * len(GOALS)
        assert is_whole or unknown, f"a command that did not run is said to be unknown: {lines}, {told}"
        assert sum("everything is done" in message.text for message in ada.from_bot) == 1
        assert await bot.stop() == 0
