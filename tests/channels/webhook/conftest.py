"""The channel on a loopback port as the gateway serves it, and a caller who signs."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from channels.webhook.adapter import WebhookChannel
from channels.webhook.signing import signed_headers
from echo_bot.channel import ChannelSettings
from echo_bot.testing.fake_port import FakePort

SECRET = "a-secret-of-the-tests"

Post = Callable[..., Any]


@pytest.fixture
def settings() -> ChannelSettings:
    return ChannelSettings(account="", secrets={"secret": SECRET})


@pytest.fixture
def port() -> FakePort:
    return FakePort()


@pytest.fixture
async def channel(settings: ChannelSettings, port: FakePort) -> AsyncIterator[WebhookChannel]:
    running = WebhookChannel(settings)
    await running.start(port)
    yield running
    await running.stop()


@pytest.fixture
def post() -> Post:
    """Call a hook with this body; `secret`, `at` and `headers` are for calls that are not in order."""

    async def call(
        hook: Any,
        body: dict[str, object] | bytes,
        *,
        secret: str = SECRET,
        at: float | None = None,
        headers: dict[str, str] | None = None,
        method: str = "POST",
    ) -> httpx.Response:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        signed = signed_headers(secret, time.time() if at is None else at, raw)
        transport = httpx.ASGITransport(app=hook)
        async with httpx.AsyncClient(transport=transport, base_url="http://bot") as caller:
            sent = signed if headers is None else headers
            return await caller.request(method, "/webhook", content=raw, headers=sent)

    return call
