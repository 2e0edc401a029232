"""`kill -9` while a card is open: after a restart its button works, the call runs once, the reply arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from echo_bot.testing.telegram import TelegramEmulator
from echo_bot.testing.telegram.model import Message
from echo_bot.testing.waiting import eventually

pytestmark = pytest.mark.e2e

StartBot = Callable[..., Awaitable[Any]]


def telegram_config(telegram: TelegramEmulator, **more: object) -> dict[str, object]:
    return {
        "tools": {"exec": {"host": "local"}},
        "permissions": {"admin_users": ["telegram:42", "telegram:43"]},
        "channels": {
            "telegram": {"enabled": True, "allow_from": ["42", "43"], "api_base": telegram.url},
            "web": {"enabled": False},
        },
        **more,
    }


def is_card_for(command: str, message: Message) -> bool:
    return command in message.text and bool(message.labels)


def token(telegram: TelegramEmulator) -> dict[str, str]:
    return {"ECHO_BOT_CHANNELS__TELEGRAM__TOKEN": telegram.token}


async def test_a_card_survives_kill_9_and_its_button_runs_the_call_once(
    tmp_path: Path, start_bot: StartBot
) -> None:
    async with TelegramEmulator() as telegram:
        config = telegram_config(telegram)
        ada = telegram.user(42, "Ada").chat()
        bot = await start_bot(config, **token(telegram))
        ada.say("/run echo once >> log; cat log")
        card = await ada.wait_for_button("Approve once")
        bot.kill()
        await bot.process.wait()
        press = ada.press("Approve once", card)
        bot = await start_bot(config, **token(telegram))
        await ada.wait_for_text("exit code 0")
        assert (tmp_path / "workspace" / "log").read_text() == "once\n"
        await ada.wait_for(
            lambda message: message.message_id == card.message_id and "Approved" in message.text
        )
        assert (await press.answer()).text
        assert await bot.stop() == 0
        assert telegram.token not in bot.log


async def test_of_two_presses_at_once_one_decides_and_the_other_hears_who(
    tmp_path: Path, start_bot: StartBot
) -> None:
    async with TelegramEmulator() as telegram:
        group = telegram.group()
        ada, bob = telegram.user(42, "Ada").chat(group), telegram.user(43, "Bob").chat(group)
        await start_bot(telegram_config(telegram), **token(telegram))
        ada.say("/run echo once >> log; cat log")
        card = await ada.wait_for_button("Approve once")
        presses = ada.press("Approve once", card), bob.press("Approve once", card)
        texts = [answer.text for answer in await asyncio.gather(*(p.answer() for p in presses))]
        assert sum("Already approved by " in text and "(telegram:" in text for text in texts) == 1
        await ada.wait_for_text("exit code 0")
        assert (tmp_path / "workspace" / "log").read_text() == "once\n"


async def test_random_kills_lose_no_message_and_repeat_no_call(tmp_path: Path, start_bot: StartBot) -> None:
    async with TelegramEmulator() as telegram:
        config = telegram_config(telegram)
        ada = telegram.user(42, "Ada").chat()
        for number, pause in enumerate((0.0, 0.05, 0.3)):
            bot = await start_bot(config, **token(telegram))
            ada.say(f"/run echo {number} >> log; echo ran {number}")
            card = await ada.wait_for(partial(is_card_for, f"echo {number} >> log"), f"card {number}", 30)
            ada.press("Approve once", card)
            await asyncio.sleep(pause)
            bot.kill()
            await bot.process.wait()
        await start_bot(config, **token(telegram))
        ends = ("exit code 0", "Outcome unknown")
        await eventually(
            lambda: sum(message.text.startswith(ends) for message in ada.from_bot) == 3, "an end for each", 30
        )
        lines = (tmp_path / "workspace" / "log").read_text().split()
        assert len(lines) == len(set(lines))
