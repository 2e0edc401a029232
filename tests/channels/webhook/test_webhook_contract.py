"""The webhook keeps the channel contract."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import httpx
import pytest

from channels.webhook.adapter import WebhookChannel
from channels.webhook.signing import signed_headers
from echo_bot.channel import ChannelSettings
from echo_bot.events import Address
from echo_bot.testing.channel_contract import ChannelContract, Stage
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.loopback import HttpRequest, HttpResponse, HttpServer

SECRET = "a-secret-of-the-tests"


@dataclass
class WebhookStage:
    channel: WebhookChannel
    port: FakePort
    address: Address
    texts: list[str]
    ids: itertools.count[int] = field(default_factory=itertools.count)

    async def say(self, text: str) -> None:
        call = {"id": str(next(self.ids)), "sender": "ci", "chat": "builds", "text": text}
        raw = json.dumps(call).encode()
        (hook,) = self.channel.hooks().values()
        transport = httpx.ASGITransport(app=hook)
        async with httpx.AsyncClient(transport=transport, base_url="http://bot") as caller:
            answer = await caller.post(
                "/webhook", content=raw, headers=signed_headers(SECRET, time.time(), raw)
            )
        assert answer.status_code == 202

    async def press(self, label: str) -> str:
        raise AssertionError("there is nothing to press")

    def shown(self) -> list[str]:
        return self.texts

    def labels(self) -> list[str]:
        return []

    def file_names(self) -> list[str]:
        return []


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    texts: list[str] = []

    async def keep(request: HttpRequest) -> HttpResponse:
        texts.append(json.loads(request.body)["text"])
        return HttpResponse(b"")

    server = HttpServer(keep)
    await server.start()
    options = {"callback_url": f"http://127.0.0.1:{server.port}/"}
    channel = WebhookChannel(ChannelSettings(account="", options=options, secrets={"secret": SECRET}))
    port = FakePort()
    await channel.start(port)
    yield WebhookStage(channel, port, Address("webhook", "builds"), texts)
    await channel.stop()
    await server.stop()


class TestWebhook(ChannelContract):
    """The contract, over signed calls and the callback: there is nothing to press, change or send."""
