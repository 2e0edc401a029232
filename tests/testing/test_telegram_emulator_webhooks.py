"""The emulator's webhooks: what is delivered when, with which proof, and what happens after a bad answer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx
import pytest

from echo_bot.testing.telegram import TelegramEmulator
from echo_bot.testing.waiting import eventually

Refusal = Callable[..., Awaitable[str]]
URL = "https://bot.example/hook"


class Bot:
    """A webhook that keeps what comes and answers with the statuses it is told, then with 200."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.statuses: list[int] = []

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(self.statuses.pop(0) if self.statuses else 200)

    @property
    def texts(self) -> list[str]:
        updates = [json.loads(request.content) for request in self.requests]
        return [update.get("message", {}).get("text", "") for update in updates]


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        yield emulator


@pytest.fixture
def bot(telegram: TelegramEmulator) -> Bot:
    bot = Bot()
    telegram.webhooks.transport = httpx.MockTransport(bot.answer)
    return bot


async def call(telegram: TelegramEmulator, method: str, **values: object) -> dict[str, object]:
    async with httpx.AsyncClient(trust_env=False, verify=False) as http:
        response = await http.post(f"{telegram.url}/bot{telegram.token}/{method}", json=values)
    answer = response.json()
    assert isinstance(answer, dict)
    return answer


async def test_updates_are_delivered_with_the_secret_in_order(telegram: TelegramEmulator, bot: Bot) -> None:
    chat = telegram.user(42).chat()
    chat.say("before")
    await call(telegram, "setWebhook", url=URL, secret_token="s-1")
    chat.say("after")
    await eventually(lambda: len(bot.requests) == 2, "both updates")
    assert bot.texts == ["before", "after"]
    assert {str(request.url) for request in bot.requests} == {URL}
    assert bot.requests[0].headers["X-Telegram-Bot-Api-Secret-Token"] == "s-1"
    await eventually(lambda: not telegram.world.updates.unconfirmed, "their confirmation")


async def test_a_bad_answer_brings_the_update_again_before_any_other_of_its_chat(
    telegram: TelegramEmulator, bot: Bot
) -> None:
    bot.statuses = [500, 302]
    await call(telegram, "setWebhook", url=URL)
    ada, bob = telegram.user(42).chat(), telegram.user(43).chat()
    ada.say("one")
    ada.say("two")
    await eventually(lambda: bot.texts == ["one", "one", "one", "two"], "the retries")
    bob.say("three")
    await eventually(lambda: bot.texts[-1] == "three", "the other chat")
    assert "X-Telegram-Bot-Api-Secret-Token" not in bot.requests[0].headers


async def test_the_info_tells_what_is_set_what_waits_and_the_last_error(
    telegram: TelegramEmulator, bot: Bot
) -> None:
    bot.statuses = [502] * 1000
    await call(telegram, "setWebhook", url=URL, allowed_updates=["message"], max_connections=7)
    telegram.user(42).chat().say("one")
    await eventually(lambda: telegram.webhooks.answers, "a delivery")
    info = (await call(telegram, "getWebhookInfo"))["result"]
    assert isinstance(info, dict)
    assert info.pop("last_error_date") > 0
    assert info == {
        "url": URL,
        "has_custom_certificate": False,
        "pending_update_count": 1,
        "max_connections": 7,
        "allowed_updates": ["message"],
        "last_error_message": "Wrong response from the webhook: 502 Bad Gateway",
    }


async def test_only_allowed_updates_are_delivered(telegram: TelegramEmulator, bot: Bot) -> None:
    await call(telegram, "setWebhook", url=URL, allowed_updates=["callback_query"])
    telegram.user(42).chat().say("one")
    telegram.put_update("callback_query", {"id": "1"})
    await eventually(lambda: bot.requests, "the press")
    assert bot.texts == [""]


async def test_without_a_webhook_updates_wait_or_are_dropped(telegram: TelegramEmulator, bot: Bot) -> None:
    await call(telegram, "setWebhook", url=URL)
    await call(telegram, "deleteWebhook")
    telegram.user(42).chat().say("one")
    result = (await call(telegram, "getUpdates"))["result"]
    assert isinstance(result, list)
    assert len(result) == 1
    await call(telegram, "setWebhook", url=URL, drop_pending_updates=True)
    telegram.user(42).chat().say("two")
    await eventually(lambda: bot.texts == ["two"], "what came later")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"url": "http://bot.example/hook"}, "An HTTPS URL must be provided"),
        ({"url": URL, "secret_token": "a b"}, "secret token contains unallowed characters"),
        ({"url": URL, "secret_token": "x" * 257}, "secret token contains unallowed characters"),
        ({"url": URL, "max_connections": 101}, "max_connections"),
    ],
)
async def test_what_telegram_refuses(
    telegram: TelegramEmulator, values: dict[str, object], expected: str
) -> None:
    answer = await call(telegram, "setWebhook", **values)
    assert (answer["error_code"], expected in str(answer["description"])) == (400, True)
