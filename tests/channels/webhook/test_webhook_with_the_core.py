"""Whole paths: signed calls over the gateway, the real core and store behind them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest

from channels.webhook.adapter import WebhookChannel
from channels.webhook.signing import signed_headers
from echo_bot.channel import Channel, ChannelSettings
from echo_bot.events import Identity
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FakeChannel
from echo_bot.testing.scripted_model import Say, ScriptedModel, Step
from echo_bot.testing.waiting import eventually

SECRET = "a-secret-of-the-tests"
CONFIG: dict[str, object] = {
    "tools.exec.host": "local",
    "channels.webhook.allow_from": ["ci", "1"],
    "permissions.admin_users": ["telegram:1", "webhook:ci", "ci"],
    "permissions.elevated.enabled": True,
    "permissions.elevated.allow_from": {"webhook": ["ci"]},
}

Start = Callable[..., AbstractAsyncContextManager[RunningBot]]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    def run(*steps: Step, **keys: object) -> AbstractAsyncContextManager[RunningBot]:
        more: dict[str, Any] = {"model": ScriptedModel(steps).model} if steps else {}
        settings = ChannelSettings(account="", secrets={"secret": SECRET})
        channels: list[Channel] = [WebhookChannel(settings), FakeChannel("telegram")]
        return running_bot(tmp_path, CONFIG | keys, channels=channels, **more)

    return run


async def call(bot: RunningBot, text: str, **more: object) -> httpx.Response:
    body = {"id": "1", "sender": "ci", "chat": "builds", "text": text, "wait_seconds": 20, **more}
    raw = json.dumps(body).encode()
    async with httpx.AsyncClient(trust_env=False, verify=False, timeout=30) as caller:
        return await caller.post(
            f"{bot.url}/webhook", content=raw, headers=signed_headers(SECRET, time.time(), raw)
        )


def texts(answer: httpx.Response) -> list[str]:
    return [each["text"] for each in answer.json()["messages"]]


async def test_the_answer_of_a_turn_comes_in_the_response(start: Start) -> None:
    async with start(Say("Four.")) as bot:
        answer = await call(bot, "What is two and two?")
        assert (answer.status_code, texts(answer)) == (200, ["Four."])


async def test_a_person_elsewhere_approves_while_the_caller_waits(start: Start) -> None:
    async with start() as bot:
        waits = asyncio.create_task(call(bot, "/run echo it ran"))
        card = await bot.channel.wait_for_button("Approve once")
        assert "webhook:ci" in card.body
        await bot.channel.press("Approve once")
        answer = await waits
        assert answer.status_code == 200
        # A person who is quicker than the first delivery leaves nothing to wait for.
        assert texts(answer)[0].startswith(("Waiting for approval of exec", "Approved once by telegram:1"))
        assert "it ran" in texts(answer)[-1]


async def test_a_claimed_sender_is_no_admin_and_decides_nothing(start: Start) -> None:
    async with start() as bot:
        waits = asyncio.create_task(call(bot, "/run echo it ran"))
        await bot.channel.wait_for_button("Approve once")
        (record,) = await bot.store.approvals.pending()
        for sender in ("ci", "1"):
            refused = await call(bot, f"/approve {record.approval_id}", id=f"by-{sender}", sender=sender)
            assert texts(refused) == ["You may not decide this."]
        who = await call(bot, "/whoami", id="who")
        assert texts(who) == ["You are `webhook:ci`. This chat is `webhook:builds`."]
        await bot.channel.press("Deny")
        assert "denied" in texts(await waits)[-1]


async def test_a_call_is_refused_a_second_time_also_after_a_restart(start: Start) -> None:
    async with start(Say("once")) as bot:
        assert (await call(bot, "go")).status_code == 200
    async with start(Say("twice")) as bot:
        answer = await call(bot, "go")
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "repeated")


async def test_a_stranger_is_refused_and_nothing_is_stored(start: Start) -> None:
    async with start() as bot:
        answer = await call(bot, "/run echo no", sender="eve")
        assert answer.status_code == 403
        assert await bot.store.sessions.last_spoke(Identity("webhook", "eve")) is None


async def test_nobodys_answer_is_a_dead_letter(start: Start) -> None:
    async with start(Say("into the void")) as bot:
        assert (await call(bot, "go", wait_seconds=0)).status_code == 202
        dead: list[Any] = []

        async def look() -> None:
            dead.extend(await bot.store.outbox.list("dead", 10))

        for _ in range(2000):
            await look()
            if dead:
                break
            await asyncio.sleep(0.01)
        assert "callback_url is not set" in dead[0].error


async def test_the_rate_limit_holds_for_callers(start: Start) -> None:
    async with start(**{"rate_limit.per_minute": 1, "rate_limit.burst": 1}) as bot:
        codes = [(await call(bot, "/help", id=str(number))).status_code for number in range(2)]
        assert codes == [200, 429]
        await eventually(lambda: bot.parts.channels.health()["webhook"].last_event_at, "the last call")
