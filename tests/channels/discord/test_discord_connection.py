"""The connection: first tries, fatal answers, broken lines, and the end."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest
from discord.gateway import DiscordWebSocket
from discord.http import Route

from channels.discord.adapter import DiscordChannel, build
from channels.discord.connection import Rhythm
from channels.discord.endpoints import OFFICIAL_API, OFFICIAL_GATEWAY, endpoints_of
from echo_bot.channel import ChannelSettings, ChannelState
from echo_bot.errors import ChannelFatal, StartError
from echo_bot.events import Address, OutboundText
from echo_bot.testing.discord import Conversation, DiscordEmulator
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.waiting import eventually


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def is_up(channel: DiscordChannel) -> None:
    await eventually(lambda: channel.health().state is ChannelState.CONNECTED, "a connection")


async def is_down(channel: DiscordChannel) -> None:
    await eventually(lambda: channel.health().state is not ChannelState.CONNECTED, "a broken connection")


@pytest.fixture
async def stopped(settings: ChannelSettings, rhythm: Rhythm) -> AsyncIterator[DiscordChannel]:
    """Not started yet, and stopped after the test."""
    channel = DiscordChannel(settings, rhythm)
    yield channel
    await channel.stop()


def test_without_a_token_nothing_is_built() -> None:
    with pytest.raises(StartError, match=r"no bot token.*Reset Token"):
        build(ChannelSettings(account="", secrets={"token": " "}))


# Fatal answers


async def test_a_refused_token_is_fatal_and_says_where_to_get_one(
    stopped: DiscordChannel, port: FakePort, discord: DiscordEmulator
) -> None:
    discord.valid_token = "another"
    with pytest.raises(ChannelFatal, match=r"does not accept.*Reset Token"):
        await stopped.start(port)


async def test_a_missing_intent_is_fatal_and_says_which_and_where(
    stopped: DiscordChannel, port: FakePort, discord: DiscordEmulator
) -> None:
    discord.message_content_granted = False
    with pytest.raises(ChannelFatal, match=r"Message Content Intent.*Privileged Gateway Intents"):
        await stopped.start(port)


@pytest.mark.parametrize("code", [4004, 4010, 4011, 4012, 4013, 4014])
async def test_a_fatal_close_while_running_ends_in_failed_with_the_fix(
    channel: DiscordChannel, discord: DiscordEmulator, code: int
) -> None:
    await eventually(lambda: discord.connections, "a line")
    discord.close(code)
    await eventually(lambda: channel.health().state is ChannelState.FAILED, "the failure")
    assert channel.health().error.count(". ") == 1


# First tries


async def test_a_server_that_is_down_is_tried_again_with_a_fresh_client(
    settings: ChannelSettings, rhythm: Rhythm, port: FakePort
) -> None:
    free, free_too = free_port(), free_port()
    settings = replace(
        settings,
        api_base=f"http://127.0.0.1:{free}/api/v10",
        options={"gateway_url": f"ws://127.0.0.1:{free_too}/gateway"},
    )
    channel = DiscordChannel(settings, rhythm)
    await channel.start(port)
    assert channel.health().state is ChannelState.RETRYING
    assert channel.health().next_retry_at is not None
    assert "reached" in channel.health().error
    late = DiscordEmulator()
    await late.start(free, free_too)
    await is_up(channel)
    await channel.stop()
    await late.stop()


async def test_a_gateway_that_is_down_at_first_is_tried_again(
    stopped: DiscordChannel,
    port: FakePort,
    discord: DiscordEmulator,
    settings: ChannelSettings,
    rhythm: Rhythm,
) -> None:
    elsewhere = replace(settings, options={"gateway_url": f"ws://127.0.0.1:{free_port()}/gateway"})
    channel = DiscordChannel(elsewhere, replace(rhythm, call=0.5, start=0.2))
    await channel.start(port)
    await eventually(lambda: len(discord.called("GET", "/users/@me")) > 1, "a second client")
    assert channel.health().state is ChannelState.RETRYING
    await channel.stop()


async def test_a_start_does_not_wait_for_a_server_that_hangs(
    settings: ChannelSettings, rhythm: Rhythm, port: FakePort, discord: DiscordEmulator
) -> None:
    discord.hold("GET", "/users/@me")
    channel = DiscordChannel(settings, replace(rhythm, start=0.1))
    began = time.monotonic()
    await channel.start(port)
    assert channel.health().state is ChannelState.STARTING
    await channel.stop()
    assert time.monotonic() - began < 5


# Broken lines

BREAKS: dict[str, Callable[[DiscordEmulator], None]] = {
    "the network breaks": lambda discord: discord.cut(),
    "the gateway closes with 4000": lambda discord: discord.close(4000),
    "the gateway closes with 1000": lambda discord: discord.close(1000),
    "the gateway closes with 1001": lambda discord: discord.close(1001),
    "it asks to reconnect": lambda discord: discord.ask_to_reconnect(),
    "the session is invalid but resumable": lambda discord: discord.invalidate(resumable=True),
    "the session is gone": lambda discord: discord.invalidate(),
}


@pytest.mark.parametrize("breaks", BREAKS.values(), ids=BREAKS.keys())
async def test_a_broken_line_comes_back_and_nothing_is_missed(
    channel: DiscordChannel,
    port: FakePort,
    discord: DiscordEmulator,
    chat: Conversation,
    breaks: Callable[[DiscordEmulator], None],
) -> None:
    chat.say("before")
    await port.wait_for_event("before")
    breaks(discord)
    chat.say("meanwhile")
    await port.wait_for_event("meanwhile")
    await eventually(lambda: channel.health().state is ChannelState.CONNECTED, "a connection")
    chat.say("after")
    await port.wait_for_event("after")
    assert [event.text for event in port.stored] == ["before", "meanwhile", "after"]
    await channel.send_text(Address("discord", chat.id), OutboundText("here"))


async def test_a_greeting_that_no_parser_reads_costs_one_connection(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, chat: Conversation
) -> None:
    chat.say("before")
    await port.wait_for_event("before")
    broken = {
        "op": 0,
        "t": "READY",
        "s": 999,
        "d": {"session_id": "x", "resume_gateway_url": "ws://127.0.0.1"},
    }
    discord.send_frame(broken)
    await eventually(lambda: len(discord.gateway.sessions) == 2, "a new session")
    chat.say("after")
    await port.wait_for_event("after")


async def test_unanswered_heartbeats_end_the_line_and_a_new_one_is_opened(
    settings: ChannelSettings, rhythm: Rhythm, port: FakePort
) -> None:
    async with DiscordEmulator(heartbeat_ms=40) as discord:
        there = replace(settings, api_base=discord.api_base, options={"gateway_url": discord.gateway_url})
        channel = DiscordChannel(there, rhythm)
        await channel.start(port)
        await is_up(channel)
        discord.gateway.answers_heartbeats = False
        await eventually(lambda: discord.resumes, "a new line")
        discord.gateway.answers_heartbeats = True
        await is_up(channel)
        await channel.stop()


@pytest.mark.parametrize("rhythm", [{"rebuild": 0.5, "call": 1.0}], indirect=True)
async def test_a_line_that_does_not_come_back_is_given_to_a_fresh_client(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, chat: Conversation
) -> None:
    ports = discord.port, discord.gateway_port
    await discord.stop()
    await is_down(channel)
    await eventually(lambda: channel.health().next_retry_at is not None, "our own retry")
    await discord.start(*ports)
    discord.forget_sessions()
    await is_up(channel)
    chat.say("again")
    await port.wait_for_event("again")


# Servers


FORMS = [
    ("", "", OFFICIAL_API, OFFICIAL_GATEWAY),
    ("http://h:1/api/v10", "ws://h:1/gateway", "http://h:1/api/v10", "ws://h:1/gateway"),
    ("http://h:1/api/v10/", "ws://h:1/gateway/", "http://h:1/api/v10", "ws://h:1/gateway"),
    (" http://h:1/ ", "ws://h:1/", "http://h:1/api/v10", "ws://h:1"),
    ("http://h:1/discord/v10//", "", "http://h:1/discord/v10", ""),
]


@pytest.mark.parametrize(("api", "gateway", "used_api", "used_gateway"), FORMS)
def test_a_slash_never_matters(api: str, gateway: str, used_api: str, used_gateway: str) -> None:
    endpoints = endpoints_of(ChannelSettings(account="", api_base=api, options={"gateway_url": gateway}))
    assert (endpoints.api, endpoints.gateway) == (used_api, used_gateway)


async def test_a_server_of_ones_own_is_asked_for_its_gateway(
    settings: ChannelSettings, rhythm: Rhythm, port: FakePort, discord: DiscordEmulator
) -> None:
    channel = DiscordChannel(replace(settings, options={}), rhythm)
    await channel.start(port)
    await is_up(channel)
    await channel.stop()
    discord.fail("GET", "/gateway", 200)
    with pytest.raises(ChannelFatal, match="gateway_url"):
        await channel.start(port)


async def test_accounts_with_different_servers_are_refused_and_the_first_keeps_running(
    channel: DiscordChannel, settings: ChannelSettings, rhythm: Rhythm, port: FakePort, chat: Conversation
) -> None:
    second = DiscordChannel(replace(settings, account="b", api_base="http://127.0.0.1:9/api/v10"), rhythm)
    with pytest.raises(ChannelFatal, match="different servers"):
        await second.start(FakePort())
    chat.say("hello")
    await port.wait_for_event("hello")
    same = DiscordChannel(replace(settings, account="c"), rhythm)
    other_port = FakePort()
    await same.start(other_port)
    chat.say("both")
    assert (await other_port.wait_for_event("both")).account == "c"
    await same.stop()
    await channel.send_text(Address("discord", chat.id), OutboundText("still here"))


async def test_discords_own_servers_are_back_after_a_stop(channel: DiscordChannel) -> None:
    assert Route.BASE != OFFICIAL_API
    await channel.stop()
    assert (Route.BASE, str(DiscordWebSocket.DEFAULT_GATEWAY)) == (OFFICIAL_API, OFFICIAL_GATEWAY)


async def test_a_proxy_of_another_kind_is_refused(
    settings: ChannelSettings, rhythm: Rhythm, port: FakePort
) -> None:
    channel = DiscordChannel(replace(settings, proxy="socks5://user:secret@h:1"), rhythm)
    with pytest.raises(ChannelFatal, match="http://host:port") as raised:
        await channel.start(port)
    assert "secret" not in str(raised.value)


async def test_everything_goes_through_a_proxy(
    settings: ChannelSettings, rhythm: Rhythm, port: FakePort, discord: DiscordEmulator
) -> None:
    seen: list[bytes] = []

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readline())
        writer.close()

    proxy = await asyncio.start_server(relay, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
    channel = DiscordChannel(replace(settings, proxy=address), rhythm)
    await channel.start(port)
    await eventually(lambda: seen, "a call through the proxy")
    assert seen[0].startswith(f"GET {discord.api_base}/users/@me".encode())
    await channel.stop()
    proxy.close()
    assert discord.calls == []


# The end


async def test_a_stop_is_quick_and_leaves_neither_task_nor_thread(
    settings: ChannelSettings, rhythm: Rhythm, port: FakePort, discord: DiscordEmulator, chat: Conversation
) -> None:
    before = set(asyncio.all_tasks())
    ours = {task for task in before if "emulator" not in task.get_name()}
    channel = DiscordChannel(settings, rhythm)
    await channel.start(port)
    chat.say("hello")
    await port.wait_for_event("hello")
    discord.hold("POST", "*")
    sending = asyncio.create_task(channel.send_text(Address("discord", chat.id), OutboundText("x")))
    await eventually(lambda: discord.called("POST", "/channels/*/messages"), "a call under way")
    began = time.monotonic()
    await channel.stop()
    assert time.monotonic() - began < 5
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    await eventually(
        lambda: not [thread for thread in threading.enumerate() if "keep-alive" in thread.name], "no thread"
    )
    left = {task for task in asyncio.all_tasks() if "emulator" not in task.get_name()} - ours
    assert [task for task in left if "discord" in task.get_name() or "discord" in repr(task)] == []


async def test_a_stop_while_the_gateway_hangs_is_quick(
    channel: DiscordChannel, discord: DiscordEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(DiscordWebSocket, "close", hang)
    began = time.monotonic()
    await channel.stop()
    assert time.monotonic() - began < 5


async def test_neither_token_nor_words_are_logged(
    settings: ChannelSettings,
    rhythm: Rhythm,
    port: FakePort,
    discord: DiscordEmulator,
    chat: Conversation,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    channel = DiscordChannel(settings, rhythm)
    await channel.start(port)
    chat.say("my secret words")
    await port.wait_for_event("secret")
    await channel.send_text(Address("discord", chat.id), OutboundText("another secret"))
    used = None
    await eventually(lambda: discord.registered_commands, "the commands")
    used = chat.slash("status")
    await used.answer()
    discord.cut()
    await eventually(lambda: discord.resumes, "another try")
    await is_up(channel)
    await channel.stop()
    sdk = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("discord"))
    printed = capsys.readouterr().out
    for secret in (discord.token, "my secret words", "another secret", used.record.token):
        assert secret not in sdk
        assert secret not in printed
