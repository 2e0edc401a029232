"""Signed HTTP mode: what Slack signed is taken, everything else is refused before it is read."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from channels.slack.adapter import SlackChannel
from channels.slack.line import Rhythm
from echo_bot.channel import ChannelSettings, ChannelState
from echo_bot.errors import StorageError
from echo_bot.events import Address, Button, Card
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.slack import Person, SignedCaller, SlackEmulator
from echo_bot.testing.waiting import eventually

EVENT = b'{"type": "event_callback"}'
JSON = {"content-type": "application/json"}


@pytest.fixture
def http_settings(slack: SlackEmulator, settings: ChannelSettings) -> ChannelSettings:
    secrets = {"bot_token": slack.bot_token, "signing_secret": slack.signing_secret}
    return replace(settings, options={"mode": "http"}, secrets=secrets)


@pytest.fixture
async def served(
    http_settings: ChannelSettings, port: FakePort, quick: Rhythm
) -> AsyncIterator[SlackChannel]:
    running = SlackChannel(http_settings, quick)
    await running.start(port)
    yield running
    await running.stop()


@pytest.fixture
def caller(slack: SlackEmulator, served: SlackChannel) -> SignedCaller:
    return slack.call(served.hooks()["/slack/events"])


async def test_each_account_has_its_own_path(
    http_settings: ChannelSettings, settings: ChannelSettings
) -> None:
    assert list(SlackChannel(replace(http_settings, account="work")).hooks()) == ["/slack/work/events"]
    assert SlackChannel(settings).hooks() == {}


async def test_the_address_is_verified_with_its_challenge(caller: SignedCaller) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "abc"}).encode()
    response = await caller.post(body, {**JSON, **caller.signature(body)})
    assert (response.status_code, response.json()) == (200, {"challenge": "abc"})


@pytest.mark.parametrize(
    "change",
    [
        {"x-slack-signature": "v0=" + "0" * 64},
        {"x-slack-signature": ""},
        {"x-slack-signature": "v0=é"},
        {"x-slack-request-timestamp": "soon"},
        {"x-slack-request-timestamp": ""},
        {"x-slack-request-timestamp": "-1"},
        {"x-slack-request-timestamp": "9" * 40},
        {"x-slack-request-timestamp": "١٢٣"},
    ],
)
async def test_a_wrong_signature_is_refused(
    caller: SignedCaller, port: FakePort, change: dict[str, str]
) -> None:
    headers = {**JSON, **caller.signature(EVENT), **change}
    response = await caller.post(EVENT, headers)
    assert (response.status_code, port.seen) == (401, [])


@pytest.mark.parametrize(("skew", "status"), [(-290, 200), (290, 200), (-400, 401), (400, 401)])
async def test_a_signature_is_good_for_five_minutes(caller: SignedCaller, skew: float, status: int) -> None:
    caller.skew_seconds = skew
    body = json.dumps({"type": "url_verification", "challenge": "abc"}).encode()
    assert (await caller.post(body, {**JSON, **caller.signature(body)})).status_code == status


async def test_a_clock_that_is_off_is_named_in_the_status(caller: SignedCaller, served: SlackChannel) -> None:
    """Else the bot would seem to be well and hear nothing."""
    body = json.dumps({"type": "url_verification", "challenge": "abc"}).encode()
    caller.skew_seconds = -600
    await caller.post(body, {**JSON, **caller.signature(body)})
    assert "clock" in served.health().error
    caller.skew_seconds = 0
    await caller.post(body, {**JSON, **caller.signature(body), "x-slack-signature": "v0=" + "0" * 64})
    assert "clock" in served.health().error
    await caller.post(body, {**JSON, **caller.signature(body)})
    assert served.health().error == ""


async def test_another_signing_secret_is_named_in_the_status_until_slack_is_known(
    caller: SignedCaller, served: SlackChannel
) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "abc"}).encode()
    other = {"x-slack-signature": "v0=" + "0" * 64}
    await caller.post(body, {**JSON, **caller.signature(body), "x-slack-signature": ""})
    assert served.health().error == ""
    await caller.post(body, {**JSON, **caller.signature(body), **other})
    assert "channels.slack.signing_secret" in served.health().error
    await caller.post(body, {**JSON, **caller.signature(body)})
    assert served.health().error == ""
    await caller.post(body, {**JSON, **caller.signature(body), **other})
    assert served.health().error == ""


async def test_a_caller_that_hangs_up_in_its_request_is_no_error(served: SlackChannel) -> None:
    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(message: object) -> None:
        raise AssertionError("nobody listens any more")

    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": []}
    await served.hooks()["/slack/events"](scope, receive, send)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"\xff\xfe", 401),
        (b"{", 400),
        (b"", 404),
        (b"[]", 400),
        (b'"words"', 400),
        (b"[" * 100_000, 400),
        (b"x" * (2 * 2**20 + 1), 413),
    ],
)
async def test_nonsense_is_refused_even_when_signed(caller: SignedCaller, body: bytes, status: int) -> None:
    text = body.decode("latin-1").encode() if body == b"\xff\xfe" else body
    signed = caller.signature(text)
    assert (await caller.post(body, {**JSON, **signed})).status_code == status


async def test_another_body_than_the_signed_one_is_refused(caller: SignedCaller) -> None:
    assert (await caller.post(EVENT + b" ", {**JSON, **caller.signature(EVENT)})).status_code == 401


async def test_it_answers_503_while_the_channel_does_not_run(
    slack: SlackEmulator, http_settings: ChannelSettings, port: FakePort, quick: Rhythm
) -> None:
    channel = SlackChannel(http_settings, quick)
    caller = slack.call(channel.hooks()["/slack/events"])
    headers = {**JSON, **caller.signature(EVENT)}
    assert (await caller.post(EVENT, headers)).status_code == 503
    await channel.start(port)
    assert channel.health().state is ChannelState.CONNECTED
    assert slack.called("apps.connections.open") == []
    await channel.stop()
    assert (await caller.post(EVENT, headers)).status_code == 503


async def test_a_retry_is_the_same_message(
    slack: SlackEmulator, caller: SignedCaller, port: FakePort, ada: Person
) -> None:
    dm = ada.dm()
    dm.say("once")
    await port.wait_for_event("once")
    again = slack.redeliver(dm.deliveries[0])
    await again.acknowledged()
    assert (again.attempt, len(port.seen), len(port.stored)) == (1, 2, 1)


async def test_what_cannot_be_stored_is_answered_with_an_error_so_that_it_comes_again(
    slack: SlackEmulator, caller: SignedCaller, port: FakePort, ada: Person
) -> None:
    port.fail(StorageError("full"))
    dm = ada.dm()
    dm.say("precious")
    await eventually(lambda: dm.deliveries[0].status == 500, "the refusal")
    again = slack.redeliver(dm.deliveries[0])
    await again.acknowledged()
    assert [event.text for event in port.stored] == ["precious"]


async def test_commands_and_presses_come_as_forms(
    served: SlackChannel, caller: SignedCaller, port: FakePort, ada: Person
) -> None:
    assert (await ada.command("status").reply())["text"] == "All is well."
    await served.send_card(Address("slack", "D1"), Card("c", "t", (), (Button("Deny", "token"),)))
    assert await ada.dm().press("Deny").answer() == "Approved once"
    assert (await port.wait_for_press()).token == "token"
