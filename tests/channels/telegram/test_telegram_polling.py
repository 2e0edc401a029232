"""Receiving survives what goes wrong: nothing is lost or stored twice, and health says what is up."""

from __future__ import annotations

import asyncio
import time

import pytest

from channels.telegram.adapter import TelegramChannel, build
from channels.telegram.standing import Rhythm
from echo_bot.channel import ChannelSettings, ChannelState
from echo_bot.errors import ChannelFatal, StartError, StorageError, TemporaryFailure
from echo_bot.events import Address, InboundEvent, OutboundText
from echo_bot.testing.fake_port import COMMANDS, FakePort
from echo_bot.testing.telegram import Conversation, TelegramEmulator
from echo_bot.testing.waiting import eventually

QUICK = Rhythm(poll=1, first_retry=0.02, longest_retry=0.1, fatal_retry=0.1)


class StuckPort(FakePort):
    """Never gets an event stored, like a process that is killed in the middle."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = asyncio.Event()

    async def receive(self, event: InboundEvent) -> bool:
        self.entered.set()
        await asyncio.Event().wait()
        return True


class BrokenPort(FakePort):
    """Cannot take one message, by a fault of its own."""

    async def receive(self, event: InboundEvent) -> bool:
        if event.text == "poison":
            raise RuntimeError("a fault in the core")
        return await super().receive(event)


async def wait_for_state(channel: TelegramChannel, state: ChannelState) -> str:
    await eventually(lambda: channel.health().state is state, f"the state {state}")
    return channel.health().error


def count_unconfirmed(telegram: TelegramEmulator) -> int:
    return len(telegram.world.updates.unconfirmed)


async def test_the_offset_moves_only_past_what_is_stored(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    port.fail(StorageError("the disk is full"), times=3)
    chat.say("first")
    chat.say("second")
    await port.wait_for_event("second")
    assert [event.text for event in port.stored] == ["first", "second"]
    assert [event.text for event in port.seen][:4] == ["first"] * 4


async def test_a_failing_store_shows_in_health_until_it_works_again(
    channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    port.fail(StorageError("the disk is full"), times=6)
    chat.say("hello")
    assert "the disk is full" in await wait_for_state(channel, ChannelState.RETRYING)
    await port.wait_for_event("hello")
    await wait_for_state(channel, ChannelState.CONNECTED)


async def test_an_update_that_was_not_stored_before_a_kill_comes_again(
    telegram: TelegramEmulator, settings: ChannelSettings, port: FakePort, chat: Conversation
) -> None:
    stuck = StuckPort()
    first = TelegramChannel(settings, QUICK)
    await first.start(stuck)
    chat.say("hello")
    await asyncio.wait_for(stuck.entered.wait(), 20)
    await first.stop()
    assert count_unconfirmed(telegram) == 1
    second = TelegramChannel(settings, QUICK)
    await second.start(port)
    await port.wait_for_event("hello")
    await second.stop()
    assert count_unconfirmed(telegram) == 0


async def test_a_redelivered_update_is_not_stored_twice(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    chat.say("hello")
    await port.wait_for_event("hello")
    telegram.redeliver()
    chat.say("next")
    await port.wait_for_event("next")
    assert [event.text for event in port.stored] == ["hello", "next"]


async def test_one_message_that_the_core_cannot_take_does_not_stop_the_rest(
    settings: ChannelSettings, chat: Conversation
) -> None:
    port, channel = BrokenPort(), TelegramChannel(settings, QUICK)
    await channel.start(port)
    chat.say("poison")
    chat.say("food")
    await port.wait_for_event("food")
    await channel.stop()


async def test_a_second_poller_is_told_apart_and_the_first_recovers(
    settings: ChannelSettings, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    await wait_for_state(channel, ChannelState.CONNECTED)
    other = TelegramChannel(settings, QUICK)
    await other.start(FakePort())
    error = await wait_for_state(channel, ChannelState.RETRYING)
    assert "another program receives this bot's messages" in error
    await other.stop()
    await wait_for_state(channel, ChannelState.CONNECTED)
    chat.say("hello")
    await port.wait_for_event("hello")


async def test_a_conflict_holds_the_state_until_a_long_poll_proves_it_over(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    await wait_for_state(channel, ChannelState.CONNECTED)
    telegram.conflict(times=3)
    await eventually(lambda: "another program" in channel.health().error, "the conflict")
    assert channel.health().state is ChannelState.RETRYING
    assert channel.health().next_retry_at is not None
    await wait_for_state(channel, ChannelState.CONNECTED)
    assert channel.health().error == ""


async def test_a_webhook_set_elsewhere_is_removed(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    await wait_for_state(channel, ChannelState.CONNECTED)
    telegram.world.updates.webhook_url = "https://elsewhere.example/hook"
    telegram.drop_connections()
    chat.say("hello")
    await port.wait_for_event("hello")
    assert telegram.world.updates.webhook_url == ""


@pytest.mark.parametrize("token", ["", "  "], ids=["none", "blanks"])
def test_without_a_token_no_channel_is_made(token: str) -> None:
    with pytest.raises(StartError, match="@BotFather"):
        build(ChannelSettings(account="", secrets={"token": token}))


@pytest.mark.parametrize(
    "token",
    [
        pytest.param("999:wrong", id="a token Telegram does not know"),
        pytest.param("nonsense", id="a token that is none"),
    ],
)
async def test_a_start_without_a_good_token_names_the_way_out(telegram: TelegramEmulator, token: str) -> None:
    channel = build(ChannelSettings(account="", api_base=telegram.url, secrets={"token": token}))
    with pytest.raises(ChannelFatal) as caught:
        await channel.start(FakePort())
    assert "@BotFather" in caught.value.fix
    assert not token or token not in str(caught.value)
    assert caught.value.__cause__ is None
    assert channel.health().state is ChannelState.STOPPED


async def test_a_token_revoked_while_running_fails_with_the_fix_and_recovers(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    await wait_for_state(channel, ChannelState.CONNECTED)
    telegram.fail("getUpdates", 401, "Unauthorized", times=2)
    telegram.drop_connections()
    assert "@BotFather" in await wait_for_state(channel, ChannelState.FAILED)
    await wait_for_state(channel, ChannelState.CONNECTED)


async def test_a_start_while_telegram_is_away_keeps_trying(port: FakePort) -> None:
    telegram = TelegramEmulator()
    await telegram.start()
    url, number = telegram.url, telegram.port
    await telegram.stop()
    channel = TelegramChannel(
        ChannelSettings(account="", api_base=url, secrets={"token": telegram.token}), QUICK
    )
    await channel.start(port)
    assert channel.health().state is ChannelState.RETRYING
    with pytest.raises(TemporaryFailure):
        await channel.send_text(Address("telegram", "42"), OutboundText("hello"))
    await telegram.start(number)
    telegram.user(42).chat().say("hello")
    await port.wait_for_event("hello")
    await eventually(lambda: telegram.called("setMyCommands"), "the menus")
    await channel.stop()
    await telegram.stop()


@pytest.mark.parametrize("trouble", ["a server error", "a dropped connection", "a wait"])
async def test_trouble_while_polling_passes(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation, trouble: str
) -> None:
    await wait_for_state(channel, ChannelState.CONNECTED)
    match trouble:
        case "a server error":
            telegram.fail("getUpdates", 502, "Bad Gateway", times=3)
        case "a dropped connection":
            telegram.drop("getUpdates", times=3)
        case _:
            telegram.fail("getUpdates", 429, retry_after=1)
    telegram.drop_connections()
    chat.say("hello")
    await port.wait_for_event("hello")
    await wait_for_state(channel, ChannelState.CONNECTED)


async def test_stopping_during_a_long_poll_is_quick_and_leaves_no_task(
    settings: ChannelSettings, port: FakePort
) -> None:
    before = asyncio.all_tasks()
    channel = TelegramChannel(settings, Rhythm(poll=50))
    await channel.start(port)
    await wait_for_state(channel, ChannelState.CONNECTED)
    started = time.monotonic()
    await channel.stop()
    assert time.monotonic() - started < 5
    new = asyncio.all_tasks() - before
    assert [task for task in new if not task.get_name().startswith("emulator:")] == []


async def test_stopping_is_quick_also_when_telegram_hangs(
    telegram: TelegramEmulator, settings: ChannelSettings, chat: Conversation
) -> None:
    stuck, channel = StuckPort(), TelegramChannel(settings, QUICK)
    await channel.start(stuck)
    assert channel.health().state is ChannelState.CONNECTED
    chat.say("hello")
    await asyncio.wait_for(stuck.entered.wait(), 20)
    released = telegram.hold("getUpdates")
    started = time.monotonic()
    await channel.stop()
    assert time.monotonic() - started < 5
    released.set()


async def test_what_was_stored_is_confirmed_at_the_stop(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    chat.say("hello")
    await port.wait_for_event("hello")
    await channel.stop()
    assert count_unconfirmed(telegram) == 0


async def test_the_menus_show_what_makes_sense_where_they_are(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    await eventually(lambda: len(telegram.world.commands) == 3, "the menus")
    menus = {scope: [entry["command"] for entry in menu] for scope, menu in telegram.world.commands.items()}
    everything = [command.name for command in COMMANDS]
    assert menus == {
        "default": ["help"],
        "all_private_chats": everything,
        "all_group_chats": [name for name in everything if name != "pair"],
    }
    described = {
        entry["command"]: entry["description"] for entry in telegram.world.commands["all_private_chats"]
    }
    assert described["approve"] == "<id> [once|always] – Approve an open call"


async def test_menus_that_did_not_change_are_not_set_again(
    telegram: TelegramEmulator, settings: ChannelSettings, channel: TelegramChannel
) -> None:
    await eventually(lambda: len(telegram.called("setMyCommands")) == 3, "the menus")
    await channel.stop()
    await channel.start(FakePort())
    await eventually(lambda: len(telegram.called("getMyCommands")) == 6, "a look at the menus")
    assert len(telegram.called("setMyCommands")) == 3


async def test_menus_are_set_also_where_telegram_does_not_tell_what_they_hold(
    telegram: TelegramEmulator, settings: ChannelSettings, port: FakePort
) -> None:
    telegram.fail("getMyCommands", 500, times=3)
    channel = TelegramChannel(settings, QUICK)
    await channel.start(port)
    await eventually(lambda: len(telegram.world.commands) == 3, "the menus")
    await channel.stop()


async def test_the_last_event_s_time_is_kept(
    channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    assert channel.health().last_event_at is None
    chat.say("hello")
    await port.wait_for_event("hello")
    await eventually(lambda: channel.health().last_event_at, "the time of the last event")
