"""The callback: what is posted, that it is signed, and what the outbox makes of the endpoint's answers."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator

import pytest

from channels.webhook.adapter import WebhookChannel
from channels.webhook.signing import is_signed
from echo_bot.channel import ChannelSettings
from echo_bot.errors import ChannelError, RetryAfter, TargetGone, TemporaryFailure
from echo_bot.events import Address, OutboundText
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.loopback import HttpRequest, HttpResponse, HttpServer

SECRET = "a-secret-of-the-tests"
ADDRESS = Address("webhook", "builds", "main")


class Endpoint:
    """The operator's endpoint: keeps what is posted and answers with `response`."""

    def __init__(self) -> None:
        self.requests: list[HttpRequest] = []
        self.response = HttpResponse(b"")
        self.server = HttpServer(self._answer)

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        self.requests.append(request)
        return self.response

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}/echo?token=in-the-address"


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    running = Endpoint()
    await running.server.start()
    yield running
    await running.server.stop()


@pytest.fixture
async def channel(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WebhookChannel]:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    settings = ChannelSettings(account="", options={"callback_url": endpoint.url}, secrets={"secret": SECRET})
    running = WebhookChannel(settings)
    await running.start(FakePort())
    yield running
    await running.stop()


async def test_an_answer_is_posted_signed_and_past_the_environments_proxy(
    channel: WebhookChannel, endpoint: Endpoint
) -> None:
    ref = await channel.send_text(ADDRESS, OutboundText("done ✓", reply_to_id="7", dedup_key="turn:reply:0"))
    (request,) = endpoint.requests
    assert (request.method, request.path) == ("POST", "/echo")
    assert is_signed(SECRET, request.headers, request.body, time.time())
    assert json.loads(request.body) == {
        "id": ref.message_id,
        "chat": "builds",
        "thread": "main",
        "reply_to": "7",
        "text": "done ✓",
        "markdown": True,
    }


async def test_a_repeated_delivery_has_the_same_id(channel: WebhookChannel, endpoint: Endpoint) -> None:
    message = OutboundText("done", dedup_key="turn:reply:0")
    for _ in range(2):
        await channel.send_text(ADDRESS, message)
    assert len({json.loads(request.body)["id"] for request in endpoint.requests}) == 1


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (HttpResponse(b"", 500), TemporaryFailure),
        (HttpResponse(b"", 401), TemporaryFailure),
        (HttpResponse(b"", 302, headers={"Location": "http://127.0.0.1:9/"}), TemporaryFailure),
        (HttpResponse(b"", 404), TargetGone),
        (HttpResponse(b"", 410), TargetGone),
        (HttpResponse(b"", 429, headers={"Retry-After": "7"}), RetryAfter),
        (HttpResponse(b"", 503, headers={"Retry-After": "7"}), RetryAfter),
    ],
)
async def test_what_the_endpoint_answers(
    channel: WebhookChannel, endpoint: Endpoint, response: HttpResponse, error: type[ChannelError]
) -> None:
    endpoint.response = response
    with pytest.raises(error) as raised:
        await channel.send_text(ADDRESS, OutboundText("done"))
    if isinstance(raised.value, RetryAfter):
        assert raised.value.seconds == 7
    assert len(endpoint.requests) == 1
    assert channel.health().error == str(raised.value)
    endpoint.response = HttpResponse(b"")
    await channel.send_text(ADDRESS, OutboundText("done"))
    assert channel.health().error == ""


async def test_an_endpoint_that_is_down_is_tried_later_and_its_address_told_to_nobody(
    channel: WebhookChannel, endpoint: Endpoint
) -> None:
    await endpoint.server.stop()
    with pytest.raises(TemporaryFailure) as raised:
        await channel.send_text(ADDRESS, OutboundText("done"))
    assert "in-the-address" not in str(raised.value)
