"""The webhook: only Telegram gets in, and an update that was answered with 200 is stored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

import httpx
import pytest

from channels.telegram.adapter import TelegramChannel, build
from channels.telegram.standing import Rhythm
from channels.telegram.webhook import MAX_BODY_BYTES
from echo_bot.channel import ChannelSettings, ChannelState
from echo_bot.errors import StartError, StorageError
from echo_bot.events import Address, Button, Card, InboundEvent, Paragraph
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.telegram import Conversation, TelegramEmulator, media
from echo_bot.testing.waiting import eventually

URL = "https://bot.example.org/hooks/telegram"
SECRET = "a-Secret_of-32-letters-0123456789"
HEADER = "X-Telegram-Bot-Api-Secret-Token"
CARD = Card("c1", "exec", (Paragraph("ls"),), (Button("Approve once", "t-once"),))


@pytest.fixture
def hooked(settings: ChannelSettings) -> ChannelSettings:
    return replace(
        settings,
        options={"webhook_url": URL},
        secrets={**settings.secrets, "webhook_secret": SECRET},
    )


@pytest.fixture
async def channel(
    telegram: TelegramEmulator, hooked: ChannelSettings, port: FakePort, quick: Rhythm
) -> AsyncIterator[TelegramChannel]:
    """Started; the emulator's deliveries reach it."""
    running = TelegramChannel(hooked, quick)
    telegram.deliver_to(running.hooks()["/hooks/telegram"])
    await running.start(port)
    yield running
    await running.stop()


async def call(
    channel: TelegramChannel,
    body: object = None,
    *,
    method: str = "POST",
    headers: Mapping[str, str] | None = None,
) -> int:
    transport = httpx.ASGITransport(app=channel.hooks()["/hooks/telegram"])
    given = {HEADER: SECRET} if headers is None else headers
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as http:
        if isinstance(body, bytes):
            response = await http.request(method, "/hooks/telegram", content=body, headers=given)
        else:
            response = await http.request(method, "/hooks/telegram", json=body, headers=given)
    return response.status_code


def update(number: int, text: str) -> dict[str, object]:
    person = {"id": 42, "is_bot": False, "first_name": "Ada"}
    chat = {"id": 42, "type": "private", "first_name": "Ada"}
    message = {"message_id": number, "date": 1_800_000_000, "chat": chat, "from": person, "text": text}
    return {"update_id": number, "message": message}


async def test_what_people_say_is_delivered_and_answered_with_success(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    for number in range(5):
        chat.say(f"line {number}")
    await port.wait_for_event("line 4")
    assert [event.text for event in port.stored] == [f"line {number}" for number in range(5)]
    await eventually(lambda: not telegram.world.updates.unconfirmed, "every update confirmed")
    assert channel.health().state is ChannelState.CONNECTED
    assert channel.health().last_event_at is not None
    assert not telegram.called("getUpdates")


async def test_the_webhook_is_set_with_everything_that_it_needs(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    (parameters,) = telegram.called("setWebhook")
    assert parameters.text("url") == URL
    assert parameters.text("secret_token") == SECRET
    assert parameters.decoded("allowed_updates") == [
        "message",
        "edited_message",
        "channel_post",
        "edited_channel_post",
        "callback_query",
    ]
    assert parameters.integer("max_connections") == 40
    assert "drop_pending_updates" not in parameters.values


async def test_a_press_is_decided_and_answered(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    await channel.send_card(Address("telegram", "42"), CARD)
    assert (await chat.press("Approve once").answer()).text == "Approved once"


async def test_an_update_that_cannot_be_stored_is_delivered_again(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    port.fail(StorageError("the disk is full"), times=2)
    chat.say("first")
    chat.say("second")
    await port.wait_for_event("second")
    assert telegram.webhooks.answers[:2] == [500, 500]
    assert [event.text for event in port.stored] == ["first", "second"]


async def test_a_repeated_delivery_is_a_success_and_stored_once(
    channel: TelegramChannel, port: FakePort
) -> None:
    assert [await call(channel, update(1, "hello")) for _ in range(3)] == [200, 200, 200]
    assert [event.text for event in port.stored] == ["hello"]


async def test_an_update_is_stored_before_its_delivery_is_answered(
    hooked: ChannelSettings, quick: Rhythm
) -> None:
    stored_at_answer: list[int] = []

    class Port(FakePort):
        async def receive(self, event: InboundEvent) -> bool:
            taken = await super().receive(event)
            stored_at_answer.append(len(self.stored))
            return taken

    port, channel = Port(), TelegramChannel(hooked, quick)
    await channel.start(port)
    assert await call(channel, update(1, "hello")) == 200
    assert stored_at_answer == [1]
    await channel.stop()


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="no secret"),
        pytest.param({HEADER: ""}, id="an empty secret"),
        pytest.param({HEADER: SECRET[:-1]}, id="a part of the secret"),
        pytest.param({HEADER: SECRET + "x"}, id="more than the secret"),
        pytest.param({HEADER: SECRET.lower()}, id="other letters"),
        pytest.param({"Authorization": f"Bearer {SECRET}"}, id="another header"),
    ],
)
async def test_without_the_secret_nothing_gets_in(
    channel: TelegramChannel, port: FakePort, headers: dict[str, str]
) -> None:
    assert await call(channel, update(1, "forged"), headers=headers) == 401
    assert port.seen == []


@pytest.mark.parametrize(
    ("body", "method", "expected"),
    [
        pytest.param(b"", "GET", 405, id="a look with a browser"),
        pytest.param(b"{", "POST", 400, id="no JSON"),
        pytest.param(b"[]", "POST", 400, id="no object"),
        pytest.param(b"[" * 100_000, "POST", 400, id="too deep"),
        pytest.param(b"{}", "POST", 400, id="no update"),
        pytest.param(b"x" * (MAX_BODY_BYTES + 1), "POST", 413, id="far too much"),
        pytest.param(b'{"update_id": 1, "poll_answer_of_the_future": {}}', "POST", 200, id="of a new kind"),
        pytest.param(
            b'{"update_id": 1, "message": {"text": 1}}', "POST", 200, id="unreadable, and not wanted again"
        ),
    ],
)
async def test_what_is_no_update_is_refused_and_one_that_says_nothing_passes(
    channel: TelegramChannel, port: FakePort, body: bytes, method: str, expected: int
) -> None:
    assert await call(channel, body, method=method) == expected
    assert port.seen == []


async def test_before_the_start_and_after_the_stop_telegram_is_asked_to_come_again(
    hooked: ChannelSettings, port: FakePort, quick: Rhythm
) -> None:
    channel = TelegramChannel(hooked, quick)
    assert await call(channel, update(1, "early")) == 503
    await channel.start(port)
    assert await call(channel, update(1, "early")) == 200
    await channel.stop()
    assert await call(channel, update(2, "late")) == 503
    assert [event.text for event in port.stored] == ["early"]


async def test_the_webhook_stays_when_the_bot_stops_so_that_updates_wait(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    await channel.stop()
    assert telegram.world.updates.webhook_url == URL
    chat.say("while you were away")
    await eventually(lambda: 503 in telegram.webhooks.answers, "a refused delivery")
    await channel.start(port)
    await port.wait_for_event("while you were away")


async def test_polling_again_takes_the_webhook_away_and_loses_nothing(
    telegram: TelegramEmulator,
    settings: ChannelSettings,
    channel: TelegramChannel,
    port: FakePort,
    chat: Conversation,
    quick: Rhythm,
) -> None:
    await channel.stop()
    chat.say("while you were away")
    polling = TelegramChannel(settings, quick)
    await polling.start(port)
    await port.wait_for_event("while you were away")
    assert telegram.world.updates.webhook_url == ""
    await polling.stop()


async def test_a_webhook_that_somebody_took_away_is_set_again(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    await telegram.webhooks.set(None)
    chat.say("hello")
    await port.wait_for_event("hello")


async def test_health_says_that_telegram_cannot_deliver_until_it_can(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    reached, telegram.webhooks.transport = (
        telegram.webhooks.transport,
        httpx.MockTransport(lambda _: httpx.Response(502)),
    )
    await telegram.webhooks.set(telegram.webhooks.webhook)
    chat.say("hello")
    await eventually(lambda: "cannot deliver" in channel.health().error, "the trouble")
    assert channel.health().state is ChannelState.RETRYING
    assert "502 Bad Gateway. 1 updates wait" in channel.health().error
    telegram.webhooks.transport = reached
    await telegram.webhooks.set(telegram.webhooks.webhook)
    await port.wait_for_event("hello")
    await eventually(lambda: channel.health().state is ChannelState.CONNECTED, "the recovery")


async def test_a_webhook_that_telegram_does_not_take_is_named_and_tried_again(
    telegram: TelegramEmulator, hooked: ChannelSettings, port: FakePort, quick: Rhythm
) -> None:
    telegram.fail("setWebhook", 400, "Bad Request: bad webhook: Failed to resolve host", times=2)
    channel = TelegramChannel(hooked, quick)
    await channel.start(port)
    assert "channels.telegram.webhook_url: Bad webhook: failed to resolve host" in channel.health().error
    await eventually(lambda: channel.health().state is ChannelState.CONNECTED, "the webhook")
    await channel.stop()


async def test_an_album_delivered_at_once_is_one_event(channel: TelegramChannel, port: FakePort) -> None:
    def part(number: int) -> dict[str, object]:
        whole = update(number, "")
        message = whole["message"]
        assert isinstance(message, dict)
        message["photo"] = [
            {"file_id": f"f{number}", "file_unique_id": "u", "width": 1, "height": 1, "file_size": number}
        ]
        message["media_group_id"] = "album"
        return whole

    answers = await asyncio.gather(*(call(channel, part(number)) for number in (3, 1, 2)))
    assert answers == [200, 200, 200]
    assert [[block.size for block in event.content] for event in port.stored] == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("url", "secret", "api_base", "expected"),
    [
        pytest.param(URL, "", "", "secrets.token_urlsafe", id="no secret"),
        pytest.param(URL, "ünsafe", "", "secrets.token_urlsafe", id="letters Telegram does not take"),
        pytest.param(URL, "x" * 257, "", "secrets.token_urlsafe", id="a secret that is too long"),
        pytest.param("http://bot.example.org/t", SECRET, "", "https", id="no https"),
        pytest.param("bot.example.org/t", SECRET, "", "https", id="no scheme"),
        pytest.param("ftp://h/t", SECRET, "http://h", "https", id="another scheme, own server"),
        pytest.param("https://bot.example.org", SECRET, "", "path of its own", id="no path"),
        pytest.param("https://bot.example.org/", SECRET, "", "path of its own", id="the page's path"),
        pytest.param(f"{URL}?x=1", SECRET, "", "path of its own", id="a query"),
    ],
)
def test_a_webhook_that_could_not_work_safely_refuses_to_start(
    url: str, secret: str, api_base: str, expected: str
) -> None:
    settings = ChannelSettings(
        "", api_base, options={"webhook_url": url}, secrets={"token": "1:x", "webhook_secret": secret}
    )
    with pytest.raises(StartError, match=expected) as caught:
        build(settings)
    assert not secret or secret not in str(caught.value)


def test_an_own_server_may_call_over_http_and_polling_has_no_hooks() -> None:
    secrets = {"token": "1:x", "webhook_secret": SECRET}
    own = TelegramChannel(
        ChannelSettings("", "http://h:1", options={"webhook_url": "http://h/t"}, secrets=secrets)
    )
    assert list(own.hooks()) == ["/t"]
    assert TelegramChannel(ChannelSettings("", secrets=secrets)).hooks() == {}


async def test_files_that_come_by_webhook_are_found(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    chat.send(media.document("a.txt", b"hello"))
    event = await port.wait_for_event()
    location = await channel.locate(event.content[0])
    async with httpx.AsyncClient(trust_env=False, verify=False) as http:
        assert (await http.get(location.url)).content == b"hello"
