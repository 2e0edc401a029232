"""Calls of the webhook: whose are taken, what a body may say, and what comes back."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.webhook.adapter import WebhookChannel, build
from channels.webhook.hook import MAX_BODY_BYTES
from channels.webhook.inbound import Call, read_call
from channels.webhook.signing import WINDOW_SECONDS, is_signed, signature, signed_headers
from echo_bot.channel import ChannelSettings, CommandReply
from echo_bot.errors import StartError, TargetGone
from echo_bot.events import Address, BlockType, OutboundText
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.waiting import eventually

Post = Callable[..., Any]

CALL: dict[str, object] = {"id": "1", "sender": "ci", "chat": "builds", "text": "/run make"}
ADDRESS = Address("webhook", "builds")


def hook_of(channel: WebhookChannel) -> Any:
    (hook,) = channel.hooks().values()
    return hook


@pytest.mark.parametrize("secret", ["", "  "])
def test_without_a_secret_it_refuses_to_start(secret: str) -> None:
    with pytest.raises(StartError, match=r"channels\.webhook\.secret"):
        build(ChannelSettings(account="", secrets={"secret": secret}))


@pytest.mark.parametrize("url", ["ci.example.org", "ftp://ci.example.org", "https://", "https://x/#y"])
def test_a_callback_that_cannot_be_called_refuses_to_start(url: str) -> None:
    settings = ChannelSettings(account="", options={"callback_url": url}, secrets={"secret": "s"})
    with pytest.raises(StartError, match=r"channels\.webhook\.callback_url"):
        build(settings)


@pytest.mark.parametrize(
    ("account", "path", "expected"),
    [("", "", "/webhook"), ("work", "", "/webhook/work"), ("work", "/ci/in", "/ci/in")],
)
def test_where_it_is_called(account: str, path: str, expected: str) -> None:
    channel = build(ChannelSettings(account=account, options={"path": path}, secrets={"secret": "s"}))
    assert list(getattr(channel, "hooks")()) == [expected]  # noqa: B009 - `Channel` has no hooks


def test_the_signature_is_the_documented_one() -> None:
    assert signature("key", "1700000000", b'{"id": "1"}') == (
        "sha256=923091b592f2cdff7fd78ff04ec1cae2212f2d7a268954108e8655327c0b579b"
    )


@given(body=st.binary(max_size=200), place=st.integers(min_value=0), bit=st.integers(0, 7))
def test_one_changed_bit_breaks_the_signature(body: bytes, place: int, bit: int) -> None:
    headers = {name.lower(): value for name, value in signed_headers("key", 1000, body).items()}
    assert is_signed("key", headers, body, 1000)
    if body:
        changed = bytearray(body)
        changed[place % len(body)] ^= 1 << bit
        assert not is_signed("key", headers, bytes(changed), 1000)
    assert not is_signed("other", headers, body, 1000)
    assert not is_signed("key", headers, body + b" ", 1000)


@pytest.mark.parametrize(
    ("offset", "expected"),
    [(0, True), (WINDOW_SECONDS, True), (-WINDOW_SECONDS, True), (301, False), (-301, False)],
)
def test_a_signature_is_good_for_five_minutes(offset: int, expected: bool) -> None:
    headers = {name.lower(): value for name, value in signed_headers("key", 10_000, b"x").items()}
    assert is_signed("key", headers, b"x", 10_000 + offset) is expected


@pytest.mark.parametrize("timestamp", ["", "-1", "1e9", " 1", "١", "9" * 13, "1.5"])
def test_a_timestamp_that_is_no_number_is_refused(timestamp: str) -> None:
    headers = {"x-echo-timestamp": timestamp, "x-echo-signature": signature("key", timestamp, b"x")}
    assert not is_signed("key", headers, b"x", 0)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Echo-Timestamp": "1"},
        {"X-Echo-Signature": "sha256=" + "0" * 64},
        {"X-Echo-Timestamp": "now", "X-Echo-Signature": "0" * 64},
    ],
)
async def test_an_unsigned_call_is_refused(
    channel: WebhookChannel, port: FakePort, post: Post, headers: dict[str, str]
) -> None:
    answer = await post(hook_of(channel), CALL, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorized")
    assert port.commanded == []


async def test_a_doubled_header_is_no_signature(channel: WebhookChannel, post: Post) -> None:
    raw = json.dumps(CALL).encode()
    signed = signed_headers("a-secret-of-the-tests", time.time(), raw)
    doubled = [*signed.items(), ("X-Echo-Signature", "sha256=" + "0" * 64)]
    assert (await post(hook_of(channel), raw, headers=doubled)).status_code == 401


async def test_a_call_that_was_recorded_is_refused_later(channel: WebhookChannel, post: Post) -> None:
    assert (await post(hook_of(channel), CALL, at=time.time() - 301)).status_code == 401


async def test_a_repeated_call_is_refused(channel: WebhookChannel, port: FakePort, post: Post) -> None:
    assert (await post(hook_of(channel), CALL)).status_code == 202
    answer = await post(hook_of(channel), CALL)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "repeated")
    assert len(port.commanded) == 1


async def test_a_call_becomes_an_event_with_a_claimed_sender(
    channel: WebhookChannel, port: FakePort, post: Post
) -> None:
    file = {"url": "https://files.example.org/a.png", "name": "a.png", "mime": "image/png", "size": 5}
    await post(hook_of(channel), {**CALL, "thread": "main", "sender_name": "CI", "files": [file]})
    (event,) = port.commanded
    assert (event.sender_id, event.chat_id, event.thread_id, event.text) == (
        "ci",
        "builds",
        "main",
        "/run make",
    )
    assert (event.unattended, event.cron_authorized, event.is_control) == (False, False, False)
    picture = event.content[1]
    assert (picture.type, picture.ref, picture.size) == (BlockType.IMAGE, file["url"], 5)
    assert (await channel.locate(picture)).url == file["url"]
    assert not channel.capabilities.authenticates_sender


@pytest.mark.parametrize(
    "claim",
    [
        {"unattended": True},
        {"cron_authorized": True},
        {"is_control": True},
        {"metadata": {"_cron_authorized": True}},
        {"session_key": "cli:local"},
        {"session_key_override": "cli:local"},
        {"memory_scope": "cli:local"},
        {"channel": "cli"},
        {"account": "other"},
        {"is_group": False},
        {"id": ""},
        {"id": "a\nb"},
        {"sender": ""},
        {"sender": 7},
        {"chat": "a b"},
        {"text": "  "},
        {"wait_seconds": -1},
        {"wait_seconds": 301},
        {"files": [{"url": "file:///etc/passwd"}]},
    ],
)
async def test_a_body_that_says_more_or_less_is_refused(
    channel: WebhookChannel, port: FakePort, post: Post, claim: dict[str, object]
) -> None:
    answer = await post(hook_of(channel), {**CALL, **claim})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid")
    assert port.commanded == []


async def test_a_refusal_repeats_nothing_of_the_body(channel: WebhookChannel, post: Post) -> None:
    answer = await post(hook_of(channel), {**CALL, "wait_seconds": "hunter2"})
    assert "hunter2" not in answer.text


@given(st.binary(max_size=300))
def test_any_body_is_a_call_or_a_sentence(body: bytes) -> None:
    assert read_call(body)


@given(st.dictionaries(st.sampled_from([*Call.model_fields, "extra"]), st.none() | st.text() | st.integers()))
def test_any_object_is_a_call_or_a_sentence(body: dict[str, object]) -> None:
    assert read_call(json.dumps(body).encode())


async def test_other_methods_large_bodies_and_a_stopped_channel(channel: WebhookChannel, post: Post) -> None:
    hook = hook_of(channel)
    assert (await post(hook, CALL, method="GET")).status_code == 405
    assert (await post(hook, b" " * (MAX_BODY_BYTES + 1))).status_code == 413
    await channel.stop()
    assert (await post(hook, CALL)).status_code == 503


async def test_a_stranger_is_refused(channel: WebhookChannel, port: FakePort, post: Post) -> None:
    port.strangers.add("ci")
    answer = await post(hook_of(channel), CALL)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")


async def test_too_many_calls_are_told_to_come_again(
    channel: WebhookChannel, port: FakePort, post: Post
) -> None:
    port.answer = CommandReply("Too many.", ok=False, busy=True)
    answer = await post(hook_of(channel), {**CALL, "text": "/status"})
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "5")


async def test_a_command_is_answered_at_once(channel: WebhookChannel, post: Post) -> None:
    answer = await post(hook_of(channel), {**CALL, "text": "/status"})
    assert answer.status_code == 200
    assert answer.json() == {
        "id": "1",
        "answered": True,
        "messages": [{"text": "All is well.", "markdown": True}],
    }


async def test_who_waits_gets_what_is_said_until_the_answer(
    channel: WebhookChannel, port: FakePort, post: Post
) -> None:
    waits: asyncio.Task[httpx.Response] = asyncio.create_task(
        post(hook_of(channel), {**CALL, "wait_seconds": 30})
    )
    await eventually(lambda: port.commanded, "the call")
    await channel.send_text(ADDRESS, OutboundText("half way", dedup_key="a"))
    await channel.send_text(ADDRESS, OutboundText("half way", dedup_key="a"))
    await channel.send_text(ADDRESS, OutboundText("done", reply_to_id="1", dedup_key="b"))
    answer = await waits
    assert (answer.status_code, answer.json()["answered"]) == (200, True)
    assert [each["text"] for each in answer.json()["messages"]] == ["half way", "done"]


async def test_a_wait_ends_with_its_time(channel: WebhookChannel, post: Post) -> None:
    answer = await post(hook_of(channel), {**CALL, "wait_seconds": 0.05})
    assert (answer.status_code, answer.json()) == (202, {"id": "1", "answered": False, "messages": []})


async def test_stopping_ends_every_wait(channel: WebhookChannel, port: FakePort, post: Post) -> None:
    waits = asyncio.create_task(post(hook_of(channel), {**CALL, "wait_seconds": 30}))
    await eventually(lambda: port.commanded, "the call")
    await channel.stop()
    answer = await asyncio.wait_for(waits, 10)
    assert (answer.status_code, answer.json()["answered"]) == (202, False)


async def test_an_answer_that_nobody_takes_is_undeliverable(channel: WebhookChannel) -> None:
    with pytest.raises(TargetGone, match="callback_url is not set"):
        await channel.send_text(ADDRESS, OutboundText("done", reply_to_id="1"))
