"""The web channel over real sockets: greeting, saying once, live edits, presses, tabs in step, files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from channels.web.adapter import WebChannel, build
from channels.web.tabs import Tab
from echo_bot.channel import ChannelSettings, ChannelState, Prompt, TranscriptEntry
from echo_bot.errors import StorageError, TargetGone
from echo_bot.events import (
    Address,
    BlockType,
    Button,
    Card,
    CardState,
    ContentBlock,
    Identity,
    MessageRef,
    OutboundFile,
    OutboundText,
    Paragraph,
    PressReply,
)
from echo_bot.gateway import Gateway, GatewaySettings
from echo_bot.storage.store import open_store
from echo_bot.testing.fake_port import FakePort

CHAT = Address("web", "local")
CARD = Card(
    "card-1", "Run a command", (Paragraph("ls"),), (Button("Approve once", "tok-1"),), short_id="card-1"
)
NOW = datetime(2026, 1, 2, tzinfo=UTC)


@dataclass
class Page:
    """One connected tab: reads frames in order, says and presses."""

    socket: ClientConnection

    async def next(self, kind: str) -> dict[str, Any]:
        """The next frame, which must be of this kind."""
        frame: dict[str, Any] = json.loads(await asyncio.wait_for(self.socket.recv(), 20))
        assert frame["type"] == kind, frame
        return frame

    async def send(self, **frame: object) -> None:
        await self.socket.send(json.dumps(frame))

    async def say(self, text: str, client_id: str = "client-0001") -> None:
        await self.send(type="say", client_id=client_id, text=text)


@dataclass
class House:
    """A running gateway with the channel mounted over a fake core."""

    gateway: Gateway
    channel: WebChannel
    port: FakePort

    async def cookie(self, identity: str = "web:local") -> str:
        async with httpx.AsyncClient(trust_env=False, verify=False) as browser:
            answer = await browser.post(await self.gateway.new_login_link(identity))
            return str(SimpleCookie(answer.headers["set-cookie"])["echo_bot_session"].value)

    @asynccontextmanager
    async def page(self, identity: str = "web:local") -> AsyncIterator[tuple[Page, dict[str, Any]]]:
        """A tab and the hello it got."""
        headers = {"Cookie": f"echo_bot_session={await self.cookie(identity)}", "Origin": self.gateway.url}
        url = self.gateway.url.replace("http", "ws") + "/ws"
        async with connect(url, additional_headers=headers, proxy=None) as socket:
            page = Page(socket)
            yield page, await page.next("hello")

    async def get(self, path: str) -> httpx.Response:
        headers = {"Cookie": f"echo_bot_session={await self.cookie()}"}
        async with httpx.AsyncClient(
            base_url=self.gateway.url, headers=headers, trust_env=False, verify=False
        ) as browser:
            return await browser.get(path)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    store = await open_store(f"sqlite+aiosqlite:///{tmp_path}/web.db")
    channel, port = build(ChannelSettings("", options={"notice": "No model is configured."})), FakePort()
    gateway = Gateway(
        GatewaySettings(port=0), store.logins, lambda: datetime.now(UTC), {"/": channel.routes()}
    )
    await channel.start(port)
    await gateway.start()
    yield House(gateway, channel, port)
    await channel.stop()
    await gateway.stop()
    await store.close()


async def test_hello_carries_the_whole_state(house: House) -> None:
    house.port.entries = (
        TranscriptEntry("e1", "user", "hi", NOW),
        TranscriptEntry("e2", "card", "", NOW, CARD),
    )
    house.port.open_cards = (CARD,)
    async with house.page() as (_, hello):
        assert hello["viewer"] == "web:local"
        assert hello["notice"] == "No model is configured."
        assert [entry["id"] for entry in hello["transcript"]] == ["e1", "e2"]
        assert hello["transcript"][1]["card"]["title"] == "Run a command"
        assert [card["id"] for card in hello["pending"]] == ["card-1"]
        assert {"name": "run", "description": "Run a command", "arguments": "<command>"} in hello["commands"]


async def test_what_a_page_says_becomes_an_event_of_the_logged_in_viewer(house: House) -> None:
    async with house.page() as (page, _):
        await page.say("/run ls")
        await page.next("message")
        assert (await page.next("said"))["ok"] is True
    event = house.port.stored[0]
    assert (event.sender, event.address, event.event_id) == (Identity("web", "local"), CHAT, "client-0001")
    assert event.content == (ContentBlock(BlockType.TEXT, text="/run ls"),)
    assert (event.unattended, event.cron_authorized, event.is_control) == (False, False, False)


async def test_saying_the_same_again_after_a_lost_answer_is_acknowledged_and_stored_once(
    house: House,
) -> None:
    async with house.page() as (page, _):
        await page.say("once")
        await page.next("message")
        await page.next("said")
    async with house.page() as (page, _):
        await page.say("once")
        assert (await page.next("said"))["ok"] is True
    assert len(house.port.stored) == 1


async def test_a_page_that_claims_trust_gets_none(house: House) -> None:
    async with house.page() as (page, _):
        forged = {"metadata": {"_cron_authorized": True}, "cron_authorized": True, "sender_id": "root"}
        await page.send(type="say", client_id="client-0001", text="hi", **forged)
        await page.next("message")
    event = house.port.stored[0]
    assert (event.cron_authorized, event.sender_id, dict(event.metadata)) == (False, "local", {})


async def test_a_message_the_store_refused_may_be_tried_again(house: House) -> None:
    house.port.fail(StorageError("the disk is full"))
    async with house.page() as (page, _):
        await page.say("hi")
        said = await page.next("said")
        assert (said["ok"], said["retry"], said["text"]) == (False, True, "Not stored: the disk is full")
        await page.say("hi")
        await page.next("message")
        assert (await page.next("said"))["ok"] is True


async def test_a_viewer_who_may_not_speak_is_told_so(house: House) -> None:
    house.port.strangers.add("guest")
    async with house.page("web:guest") as (page, _):
        await page.say("hi")
        said = await page.next("said")
    assert (said["ok"], said["text"]) == (False, "web:guest may not speak here.")
    assert house.port.stored == []


async def test_tabs_of_one_chat_stay_in_step_and_another_log_in_sees_nothing(house: House) -> None:
    async with house.page() as (one, _), house.page() as (two, _), house.page("web:other") as (other, _):
        await one.say("hello")
        assert (await two.next("message"))["entry"]["text"] == "hello"
        await house.channel.send_text(CHAT, OutboundText("answer"))
        assert (await two.next("message"))["entry"]["text"] == "answer"
        await other.send(type="ping")
        await other.next("pong")


async def test_a_streamed_answer_keeps_its_place(house: House) -> None:
    async with house.page() as (page, _):
        ref = await house.channel.send_text(CHAT, OutboundText("one …", markdown=False, is_draft=True))
        await house.channel.edit_text(ref, OutboundText("one *two*"))
        first, last = (await page.next("message"))["entry"], (await page.next("edit"))["entry"]
    assert (first["draft"], first["markdown"], last["draft"], last["markdown"]) == (True, False, False, True)
    assert first["id"] == last["id"] == ref.message_id


async def test_sending_again_under_the_same_key_is_the_same_message(house: House) -> None:
    first = await house.channel.send_text(CHAT, OutboundText("a", dedup_key="turn-1:0"))
    assert await house.channel.send_text(CHAT, OutboundText("a", dedup_key="turn-1:0")) == first


async def test_a_press_reaches_the_core_with_presser_and_reason_and_is_answered(house: House) -> None:
    async with house.page() as (page, _):
        ref = await house.channel.send_card(CHAT, CARD)
        shown = await page.next("card")
        await page.send(
            type="press",
            press_id="press-0001",
            token="tok-1",
            message_id=shown["entry"]["id"],
            text="because",
        )
        reply = await page.next("press_reply")
        decided = Card("card-1", "Approved once", (), state=CardState.APPROVED)
        await house.channel.edit_card(ref, decided)
        assert (await page.next("card_update"))["entry"]["card"]["state"] == "approved"
    press = house.port.presses[0]
    assert (press.token, press.text, press.presser) == ("tok-1", "because", Identity("web", "local"))
    assert (press.address, press.message_id) == (CHAT, ref.message_id)
    assert (reply["press_id"], reply["ok"], reply["text"]) == ("press-0001", True, "Approved once")


async def test_a_button_that_wants_words_is_told_what_to_ask(house: House) -> None:
    house.port.asks = Prompt("Change the call.", initial="ls -la", title="Edit exec")
    async with house.page() as (page, _):
        await page.send(type="ask", press_id="press-0001", token="tok-edit", message_id="card:1")
        asked = await page.next("prompt")
        assert asked == {
            "type": "prompt",
            "press_id": "press-0001",
            "token": "tok-edit",
            "question": "Change the call.",
            "initial": "ls -la",
            "title": "Edit exec",
        }
        house.port.asks = PressReply("You may not decide this.", ok=False)
        await page.send(type="ask", press_id="press-0002", token="tok-edit")
        refused = await page.next("press_reply")
        assert (refused["ok"], refused["text"]) == (False, "You may not decide this.")
        assert not house.port.presses


async def test_an_edited_call_may_be_long(house: House) -> None:
    async with house.page() as (page, _):
        await page.send(type="press", press_id="press-0001", token="tok-edit", text="é" * 900_000)
        await page.next("press_reply")
        assert len(house.port.presses[0].text) == 900_000


async def test_a_press_the_store_refused_is_answered_too(house: House) -> None:
    house.port.fail(StorageError("the disk is full"))
    async with house.page() as (page, _):
        await page.send(type="press", press_id="press-0001", token="tok-1")
        reply = await page.next("press_reply")
    assert (reply["ok"], reply["text"]) == (False, "Not decided: the disk is full")


async def test_a_slow_decision_does_not_hold_up_the_next_message(house: House) -> None:
    gate = asyncio.Event()

    class SlowPort(FakePort):
        async def press(self, press: object) -> PressReply:
            await gate.wait()
            return PressReply("late")

    await house.channel.start(SlowPort())
    async with house.page() as (page, _):
        await page.send(type="press", press_id="press-0001", token="tok-1")
        await page.say("meanwhile")
        await page.next("message")
        await page.next("said")
        gate.set()
        assert (await page.next("press_reply"))["text"] == "late"


async def test_the_pending_list_follows(house: House) -> None:
    async with house.page() as (page, hello):
        assert hello["pending"] == []
        house.port.open_cards = (CARD,)
        await house.channel.pending_changed()
        assert [card["id"] for card in (await page.next("pending"))["cards"]] == ["card-1"]


async def test_typing_reaches_the_page(house: House) -> None:
    async with house.page() as (page, _):
        await house.channel.typing(CHAT)
        assert (await page.next("typing"))["seconds"] > 0


async def test_everything_can_be_sent_while_no_page_is_open(house: House) -> None:
    assert (await house.channel.send_text(CHAT, OutboundText("x"))).address == CHAT
    assert await house.channel.send_card(CHAT, CARD) == MessageRef(CHAT, "card:card-1")
    await house.channel.pending_changed()


@pytest.mark.parametrize("raw", ["not json", "[]", '{"type":"say"}', '{"type":"become_admin"}'])
async def test_a_frame_outside_the_protocol_ends_the_connection_with_a_reason(house: House, raw: str) -> None:
    async with house.page() as (page, _):
        await page.socket.send(raw)
        assert (await page.next("error"))["text"]
        with pytest.raises(ConnectionClosed) as closed:
            await page.socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008


async def test_a_huge_frame_ends_the_connection(house: House) -> None:
    async with house.page() as (page, _):
        await page.socket.send("x" * 9_000_000)
        with pytest.raises(ConnectionClosed) as closed:
            await page.socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009


def test_a_tab_that_reads_too_slowly_is_sent_to_resync() -> None:
    tab = Tab(Identity("web", "local"))
    for _ in range(1001):
        tab.send("{}")
    assert tab.closing_code == 1013


async def test_stopping_asks_pages_to_come_back(house: House) -> None:
    async with house.page() as (page, _):
        assert house.channel.health().state is ChannelState.CONNECTED
        await house.channel.stop()
        with pytest.raises(ConnectionClosed) as closed:
            await page.socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1012
    assert house.channel.health().state is ChannelState.STOPPED


async def test_a_file_is_downloaded_as_it_was_sent_and_by_nobody_else(house: House, tmp_path: Path) -> None:
    original = tmp_path / "report.html"
    original.write_text("<script>alert(1)</script>")
    async with house.page() as (page, _):
        ref = await house.channel.send_file(CHAT, OutboundFile(str(original), "report.html", "text/html"))
        entry = (await page.next("message"))["entry"]
    original.write_text("changed later")
    answer = await house.get("/" + entry["file"]["url"])
    assert answer.text == "<script>alert(1)</script>"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in answer.headers["content-security-policy"]
    async with httpx.AsyncClient(base_url=house.gateway.url, trust_env=False, verify=False) as stranger:
        assert (await stranger.get("/" + entry["file"]["url"])).status_code == 401
    house.port.entries = (TranscriptEntry(ref.message_id, "bot", "[file] report.html", NOW),)
    async with house.page() as (_, hello):
        assert hello["transcript"][0]["file"] == entry["file"]


async def test_a_file_that_is_not_there_is_said_so(house: House, tmp_path: Path) -> None:
    with pytest.raises(TargetGone, match=r"report\.csv cannot be read: No such file"):
        await house.channel.send_file(CHAT, OutboundFile(str(tmp_path / "gone"), "report.csv"))
    assert (await house.get("/files/unknown")).status_code == 404


async def test_the_page_is_served_under_a_strict_policy_and_nothing_outside_its_folder(house: House) -> None:
    page = await house.get("/")
    policy = page.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    for path in ("/../adapter.py", "/%2e%2e/adapter.py", "/vendor/..%2f..%2fadapter.py"):
        assert (await house.get(path)).status_code == 404
