"""Starting, staying connected, acknowledging in time, and stopping: nothing left, no token told."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from channels.slack.adapter import SlackChannel, build
from channels.slack.client import Clients
from channels.slack.line import Rhythm
from channels.slack.redaction import Redaction
from echo_bot.channel import ChannelSettings, ChannelState
from echo_bot.errors import ChannelFatal, StartError
from echo_bot.events import Address, OutboundText
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.slack import USER_TOKEN, Conversation, SlackEmulator
from echo_bot.testing.waiting import eventually


async def connections(slack: SlackEmulator, count: int) -> None:
    await eventually(lambda: slack.sockets.opened >= count, f"connection number {count}")


@pytest.mark.parametrize(
    ("mode", "missing", "fix"),
    [
        ("socket", "bot_token", "xoxb-"),
        ("socket", "app_token", "connections:write"),
        ("http", "signing_secret", "signing_secret"),
    ],
)
def test_without_a_secret_nothing_is_built(mode: str, missing: str, fix: str) -> None:
    secrets = {"bot_token": "xoxb-1", "app_token": "xapp-1", "signing_secret": "s"}
    settings = ChannelSettings("", options={"mode": mode}, secrets=secrets | {missing: " "})
    with pytest.raises(StartError, match=fix):
        build(settings)
    assert build(replace(settings, secrets=secrets)).name == "slack"


@pytest.mark.parametrize(
    ("secret", "value", "fix"),
    [
        ("bot_token", "xoxb-wrong", "Bot User OAuth Token"),
        ("bot_token", "xapp-1-test-token-of-the-emulator", "Bot User OAuth Token"),
        ("app_token", "xapp-wrong", "connections:write"),
        ("app_token", "xoxb-1-test-token-of-the-emulator", "connections:write"),
    ],
)
async def test_a_refused_token_is_fatal_and_names_the_fix(
    settings: ChannelSettings, port: FakePort, quick: Rhythm, secret: str, value: str, fix: str
) -> None:
    channel = SlackChannel(replace(settings, secrets={**settings.secrets, secret: value}), quick)
    with pytest.raises(ChannelFatal, match=fix) as raised:
        await channel.start(port)
    assert value not in str(raised.value)
    assert channel.health().state is ChannelState.STOPPED
    assert _tasks_of_the_channel() == []


async def test_an_app_that_may_not_even_write_is_fatal_and_names_the_scope(
    slack: SlackEmulator, settings: ChannelSettings, port: FakePort, quick: Rhythm
) -> None:
    slack.scopes.discard("chat:write")
    with pytest.raises(ChannelFatal, match=r"chat:write.*manifest"):
        await SlackChannel(settings, quick).start(port)


async def test_a_scope_that_only_some_things_need_is_a_warning(
    slack: SlackEmulator, settings: ChannelSettings, port: FakePort, quick: Rhythm
) -> None:
    slack.scopes.discard("files:write")
    channel = SlackChannel(settings, quick)
    with capture_logs() as logs:
        await channel.start(port)
    await channel.stop()
    assert [log["scopes"] for log in logs if log["event"] == "slack_scopes_missing"] == ["files:write"]


@pytest.mark.parametrize("proxy", ["socks5://u:hunter2@h:1", "h:1", "http://", "http://h:x"])
async def test_a_proxy_that_cannot_be_used_is_fatal_and_stays_unsaid(
    settings: ChannelSettings, port: FakePort, proxy: str
) -> None:
    with pytest.raises(ChannelFatal, match=r"channels\.slack\.proxy") as raised:
        await SlackChannel(replace(settings, proxy=proxy)).start(port)
    assert "hunter2" not in str(raised.value)


async def test_a_proxy_that_is_not_there_is_waited_for(settings: ChannelSettings, port: FakePort) -> None:
    channel = SlackChannel(replace(settings, proxy="http://u:hunter2@127.0.0.1:9"))
    await channel.start(port)
    health = channel.health()
    assert (health.state, "hunter2" in health.error) == (ChannelState.RETRYING, False)
    await channel.stop()


async def test_slack_being_away_at_the_start_is_waited_out(
    slack: SlackEmulator, settings: ChannelSettings, port: FakePort, quick: Rhythm, dm: Conversation
) -> None:
    slack.fail("auth.test", status=503, times=2)
    slack.drop("apps.connections.open")
    channel = SlackChannel(settings, quick)
    await channel.start(port)
    assert channel.health().state is ChannelState.RETRYING
    assert channel.health().next_retry_at is not None
    await eventually(lambda: channel.health().state is ChannelState.CONNECTED, "a connection")
    dm.say("there you are")
    await port.wait_for_event("there you are")
    await channel.stop()


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_a_disconnect_envelope_moves_to_a_new_connection(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, dm: Conversation, reason: str
) -> None:
    slack.sockets.tell_to_go(reason)
    dm.say("on the new one")
    await port.wait_for_event("on the new one")
    await eventually(lambda: len(slack.sockets.open_connections) == 1, "the end of the old connection")
    assert slack.sockets.opened == 2


async def test_slack_that_takes_the_question_and_never_answers_is_asked_again(
    slack: SlackEmulator, settings: ChannelSettings, port: FakePort, quick: Rhythm
) -> None:
    held = slack.hold("auth.test")
    channel = SlackChannel(settings, replace(quick, greeting=0.05))
    await channel.start(port)
    await eventually(lambda: len(slack.called("auth.test")) > 1, "another try")
    assert channel.health().state is ChannelState.RETRYING
    held.set()
    await eventually(lambda: channel.health().state is ChannelState.CONNECTED, "a connection")
    await channel.stop()


async def test_no_answer_of_slacks_is_waited_for_long(settings: ChannelSettings) -> None:
    clients = Clients(settings, logging.getLogger("test"))
    assert (clients.session.timeout.sock_read, clients.session.timeout.sock_connect) == (30, 10)
    await clients.close()


@pytest.mark.parametrize(
    ("reason", "fix"),
    [("link_disabled", "switch it on there"), ("too_many_websockets", "stop the other programs")],
)
async def test_a_farewell_that_somebody_must_see_to_shows_in_the_status(
    slack: SlackEmulator, settings: ChannelSettings, port: FakePort, reason: str, fix: str
) -> None:
    channel = SlackChannel(settings, Rhythm(look=0.01, first_retry=3600.0, steady=3600.0))
    await channel.start(port)
    slack.sockets.tell_to_go(reason)
    await eventually(lambda: fix in channel.health().error, "the reason")
    assert channel.health().state is ChannelState.RETRYING
    await channel.stop()


async def test_killed_sockets_are_replaced_and_what_they_took_along_is_done_once(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    for number in range(3):
        slack.sockets.drop()
        dm.say(f"message {number}")
        await port.wait_for_event(f"message {number}")
    await eventually(lambda: channel.health().state is ChannelState.CONNECTED, "a connection")
    assert [event.text for event in port.stored] == [f"message {number}" for number in range(3)]


async def test_a_connection_that_served_well_is_replaced_at_once_when_slack_asks_however_young_it_is(
    slack: SlackEmulator, settings: ChannelSettings, port: FakePort, dm: Conversation
) -> None:
    channel = SlackChannel(settings, Rhythm(look=0.01, first_retry=3600.0, steady=3600.0))
    await channel.start(port)
    for number in range(3):
        dm.say(f"message {number}")
        await port.wait_for_event(f"message {number}")
        slack.sockets.tell_to_go("refresh_requested")
        await connections(slack, number + 2)
    await channel.stop()


async def test_the_pauses_do_not_grow_while_connections_deliver(
    slack: SlackEmulator, settings: ChannelSettings, port: FakePort, dm: Conversation
) -> None:
    rhythm = Rhythm(look=0.01, first_retry=0.02, longest_retry=3600.0, steady=3600.0)
    channel = SlackChannel(settings, rhythm)
    await channel.start(port)
    for number in range(12):
        dm.say(f"message {number}")
        await port.wait_for_event(f"message {number}")
        slack.sockets.drop()
    await eventually(lambda: channel.health().state is ChannelState.CONNECTED, "a connection")
    await channel.stop()


async def test_the_pauses_grow_while_connections_deliver_nothing(
    slack: SlackEmulator, settings: ChannelSettings, port: FakePort
) -> None:
    channel = SlackChannel(settings, Rhythm(look=0.01, first_retry=0.05, longest_retry=0.2, steady=3600.0))
    await channel.start(port)
    started = time.monotonic()
    for opened in range(2, 6):
        slack.sockets.tell_to_go("warning")
        await connections(slack, opened)
    assert time.monotonic() - started > 0.3
    await channel.stop()


async def test_a_connection_that_answers_no_ping_is_replaced(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    slack.sockets.freeze()
    await eventually(lambda: slack.sockets.opened > 1, "a new connection")
    dm.say("alive")
    await port.wait_for_event("alive")


async def test_tries_to_reconnect_are_bounded(
    slack: SlackEmulator, settings: ChannelSettings, port: FakePort
) -> None:
    channel = SlackChannel(settings, Rhythm(look=0.01, first_retry=0.05, longest_retry=0.2, steady=0.0))
    await channel.start(port)
    slack.fail("apps.connections.open", "internal_error", times=1000)
    slack.sockets.drop()
    started = time.monotonic()
    await eventually(lambda: len(slack.called("apps.connections.open")) >= 5, "tries")
    assert time.monotonic() - started > 0.3
    assert "internal_error" in channel.health().error
    slack.heal()
    await eventually(lambda: channel.health().state is ChannelState.CONNECTED, "a connection")
    await channel.stop()


async def test_a_token_revoked_while_running_shows_and_is_tried_again(
    slack: SlackEmulator, channel: SlackChannel
) -> None:
    slack.fail("apps.connections.open", "invalid_auth", times=3)
    slack.sockets.drop()
    await eventually(lambda: channel.health().state is ChannelState.FAILED, "the failure")
    assert "app-level token" in channel.health().error
    await eventually(lambda: channel.health().state is ChannelState.CONNECTED, "a connection")


async def test_too_many_connections_are_waited_for_as_told(
    slack: SlackEmulator, channel: SlackChannel
) -> None:
    slack.fail("apps.connections.open", retry_after=1)
    slack.sockets.drop()
    await eventually(lambda: "wait 1 s" in channel.health().error, "the wait")


async def test_it_stops_while_an_old_connection_still_has_something_in_hand(
    slack: SlackEmulator,
    settings: ChannelSettings,
    port: FakePort,
    quick: Rhythm,
    dm: Conversation,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reached = asyncio.Event()

    async def receive(_: object) -> bool:
        reached.set()
        await asyncio.Event().wait()
        return True

    monkeypatch.setattr(port, "receive", receive)
    channel = SlackChannel(settings, quick)
    await channel.start(port)
    dm.say("never stored")
    await reached.wait()
    slack.sockets.drop()
    await eventually(lambda: slack.sockets.opened == 2, "a new connection")
    started = time.monotonic()
    await channel.stop()
    assert time.monotonic() - started < 5
    assert _tasks_of_the_channel() == []


async def test_it_stops_soon_even_when_slack_hangs(
    slack: SlackEmulator, settings: ChannelSettings, port: FakePort, quick: Rhythm, dm: Conversation
) -> None:
    channel = SlackChannel(settings, quick)
    await channel.start(port)
    for method in ("users.info", "chat.postMessage", "apps.connections.open"):
        slack.hold(method)
    dm.say("hello")
    sending = asyncio.create_task(channel.send_text(Address("slack", "D1"), OutboundText("x")))
    await eventually(lambda: slack.called("chat.postMessage"), "the call")
    slack.sockets.freeze()
    started = time.monotonic()
    await channel.stop()
    assert time.monotonic() - started < 5
    assert _tasks_of_the_channel() == []
    slack.heal()
    await asyncio.gather(sending, return_exceptions=True)


async def test_no_token_is_ever_logged(
    slack: SlackEmulator,
    settings: ChannelSettings,
    port: FakePort,
    quick: Rhythm,
    dm: Conversation,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    with capture_logs() as logs:
        channel = SlackChannel(settings, quick)
        await channel.start(port)
        dm.say("a private word")
        await port.wait_for_event("a private word")
        slack.fail("*", "fatal_error", times=3)
        slack.sockets.drop()
        await eventually(lambda: slack.sockets.opened > 1, "a new connection")
        await channel.stop()
    written = caplog.text + repr(logs)
    assert not any(
        secret in written for secret in (slack.bot_token, slack.app_token, "ticket=", "private word")
    )


def test_a_log_record_with_a_token_is_masked() -> None:
    redaction = Redaction(["s3cret"])
    shapes = "xoxb-12-ab.c xapp-1-A2 wss://x/?ticket=abc&app_id=1 s3cret"
    assert redaction.clean(shapes) == "<token> <token> wss://x/?ticket=<token>&app_id=1 <token>"
    try:
        raise ValueError("xoxb-9-inside")
    except ValueError as error:
        record = logging.LogRecord("x", 40, "f", 1, "said %s", ("s3cret",), (ValueError, error, None))
    redaction.filter(record)
    assert (record.getMessage(), "xoxb" in (record.exc_text or "")) == ("said <token>", False)


def _tasks_of_the_channel() -> list[str]:
    """Everything that still runs, but for the test itself and the emulator."""
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    names = [f"{task.get_name()} {task.get_coro()!r}" for task in others]
    return [name for name in names if "slack" in name and "emulator" not in name and "/testing/" not in name]


async def test_a_persons_token_is_refused(slack: SlackEmulator, port: FakePort) -> None:
    secrets = {"bot_token": USER_TOKEN, "app_token": slack.app_token}
    channel = SlackChannel(ChannelSettings(account="", api_base=slack.url, secrets=secrets))
    with pytest.raises(ChannelFatal, match="a person's"):
        await channel.start(port)
    await channel.stop()
