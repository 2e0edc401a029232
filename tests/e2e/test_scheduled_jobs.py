"""Jobs in a real process: made with a press in Telegram, run at their time and by the command line."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from echo_bot.testing.telegram import Conversation, TelegramEmulator
from echo_bot.testing.waiting import eventually

pytestmark = pytest.mark.e2e

StartBot = Callable[..., Awaitable[Any]]
Verb = Callable[..., Awaitable[Any]]
CREATE = "/tool cronjob action=create"


def config(telegram: TelegramEmulator, **more: object) -> dict[str, object]:
    return {
        "tools": {"exec": {"host": "local"}},
        "rate_limit": {"per_minute": 0},
        "permissions": {"admin_users": ["telegram:42"]},
        "channels": {
            "telegram": {"enabled": True, "allow_from": ["42"], "api_base": telegram.url},
            "web": {"enabled": False},
        },
        **more,
    }


def token(telegram: TelegramEmulator) -> dict[str, str]:
    return {"ECHO_BOT_CHANNELS__TELEGRAM__TOKEN": telegram.token}


async def make(person: Conversation, words: str) -> None:
    person.say(f"{CREATE} {words}")
    await person.wait_for_button("Approve once")
    person.press("Approve once")
    await person.wait_for_text("Made: ")


async def test_a_job_runs_at_its_time_and_whenever_the_command_line_wants_it(
    start_bot: StartBot, verb: Verb
) -> None:
    async with TelegramEmulator() as telegram:
        await start_bot(config(telegram), **token(telegram))
        ada = telegram.user(42, "Ada").chat()
        await make(ada, "name=tea schedule='in 8 seconds' instruction='/run echo the tea is ready'")
        await ada.wait_for_text("exit code 0\nthe tea is ready")
        await make(ada, "name=report schedule=@yearly instruction='/run echo all is well'")
        assert (await verb("jobs", "run", "report")).code == 0
        await ada.wait_for_text("exit code 0\nall is well")
        rows = {row["name"]: row for row in json.loads((await verb("jobs", "list", "--json")).out)}
        assert (rows["tea"]["state"], rows["report"]["state"]) == ("done", "active")
        assert rows["report"]["authorised_by"] == "telegram:42"
        ada.say("/jobs")
        await ada.wait_for_text("answers to telegram:42")


async def test_a_killed_bot_runs_what_it_had_claimed_once_and_tells_of_what_it_had_begun(
    tmp_path: Path, start_bot: StartBot, verb: Verb
) -> None:
    async with TelegramEmulator() as telegram:
        bot = await start_bot(config(telegram), **token(telegram))
        ada = telegram.user(42, "Ada").chat()
        await make(ada, "name=long schedule=@yearly instruction='/run echo run >> runs; sleep 5'")
        assert (await verb("jobs", "run", "long")).code == 0
        runs = tmp_path / "workspace" / "runs"
        await eventually(runs.exists, "the command")
        bot.kill()
        await start_bot(config(telegram), **token(telegram))
        await ada.wait_for_text("Outcome unknown")
        assert runs.read_text() == "run\n"
        connection = sqlite3.connect(tmp_path / "state" / "echo-bot.db")
        turns = connection.execute("SELECT count(*) FROM turns WHERE kind = 'job'").fetchone()
        connection.close()
        assert turns == (1,)
