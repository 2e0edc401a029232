"""The webhook keeps the channel contract, as far as there is something to press, change or send."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from channels.webhook.adapter import WebhookChannel
from channels.webhook.signing import signed_headers
from echo_bot.channel import ChannelSettings
from echo_bot.errors import TargetGone
from echo_bot.events import Address, OutboundFile, OutboundText
from echo_bot.testing.channel_contract import CARD, CARD_WORDS, CLOSED_CARD, ChannelContract, Stage
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
    """The contract, over signed calls and the callback."""

    async def test_text_is_sent_and_changed_where_it_stands(self, stage: Stage) -> None:
        """Nothing can be changed, so what is new is said anew."""
        assert not stage.channel.capabilities.edits
        ref = await stage.channel.send_text(stage.address, OutboundText("thinking"))
        await stage.channel.edit_text(ref, OutboundText("the answer"))
        assert stage.shown() == ["thinking", "the answer"]

    async def test_an_edit_that_changes_nothing_is_no_error(self, stage: Stage) -> None:
        ref = await stage.channel.send_text(stage.address, OutboundText("same"))
        await stage.channel.edit_text(ref, OutboundText("same"))

    async def test_a_card_shows_its_call_whole_and_its_buttons(self, stage: Stage) -> None:
        """There are no buttons; the core sends the text that says what to reply."""
        assert not stage.channel.capabilities.buttons
        await stage.channel.send_card(stage.address, CARD)
        assert all(words in stage.shown()[0] for words in CARD_WORDS)

    async def test_a_press_reaches_the_port_and_its_answer_the_presser(self, stage: Stage) -> None:
        """Nobody presses: see `test_webhook_with_the_core` for `/approve`."""
        assert stage.labels() == []

    async def test_a_closed_card_has_no_buttons(self, stage: Stage) -> None:
        ref = await stage.channel.send_card(stage.address, CARD)
        await stage.channel.edit_card(ref, CLOSED_CARD)
        assert stage.shown()[-1] == "Approved once by Ada"

    async def test_a_file_arrives_under_its_name(self, stage: Stage, tmp_path: Path) -> None:
        """No file does, and the core is told so by the flag and by the error."""
        assert not stage.channel.capabilities.files
        with pytest.raises(TargetGone):
            await stage.channel.send_file(stage.address, OutboundFile(str(tmp_path), "report.txt"))
