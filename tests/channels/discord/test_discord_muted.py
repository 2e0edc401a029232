"""Where the bot may not write, whoever asks is told in a place that they can see."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Any

import pytest

from channels.discord.adapter import DiscordChannel
from channels.discord.muted import Explaining
from channels.discord.rooms import Rooms
from echo_bot.channel import inbound_event
from echo_bot.events import BlockType, ContentBlock
from echo_bot.testing.discord import Conversation, DiscordEmulator, Guild, Person
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.waiting import eventually

Opening = Callable[..., AbstractAsyncContextManager[Any]]


@pytest.fixture
def guild(discord: DiscordEmulator) -> Guild:
    return discord.guild("Lab")


@pytest.fixture
def room(guild: Guild, ada: Person) -> Conversation:
    return ada.chat(guild.channel("general"))


async def test_whoever_asks_where_the_bot_may_not_write_is_told_in_the_direct_chat_once_and_nothing_runs(
    channel: DiscordChannel, port: FakePort, room: Conversation, chat: Conversation
) -> None:
    room.place.forbid("send_messages")
    for text in ("one", "two", "/run ls", "/status", "/approve x"):
        room.mention(text)
    shown = await chat.wait_for_text("permission Send Messages in that channel")
    assert shown.text.startswith(f"I may not write in <#{room.id}>, so I did nothing")
    chat.say("and here?")
    await port.wait_for_event("and here?")
    await port.wait_for_event("/approve x")
    assert sorted(event.text for event in port.stored) == ["/approve x", "/status", "and here?"]
    assert len(chat.from_bot) == 1


async def test_nobody_is_told_who_did_not_speak_to_the_bot_or_is_not_known(
    channel: DiscordChannel,
    port: FakePort,
    discord: DiscordEmulator,
    room: Conversation,
    chat: Conversation,
) -> None:
    room.place.forbid("send_messages")
    stranger = discord.user("Mallory")
    port.strangers.add(stranger.id)
    stranger.chat(room.place).mention("let me in")
    room.say("just talk")
    await port.wait_for_event("just talk")
    room.mention("last")
    await chat.wait_for_text("I may not write")
    assert len(chat.from_bot) == 1
    assert stranger.dm().from_bot == []


@pytest.mark.parametrize(
    ("forbidden", "locked", "said"),
    [
        ("send_messages_in_threads", False, "Send Messages in Threads"),
        ("manage_threads", True, "is locked"),
        ("manage_threads", False, ""),
        ("send_messages", False, ""),
    ],
)
async def test_a_thread_has_its_own_permission_and_its_lock(
    channel: DiscordChannel,
    port: FakePort,
    discord: DiscordEmulator,
    guild: Guild,
    room: Conversation,
    ada: Person,
    forbidden: str,
    locked: bool,
    said: str,
) -> None:
    await eventually(lambda: discord.registered_commands, "the commands")
    thread = ada.chat(guild.thread(room.place, "plan"))
    room.place.forbid(forbidden)
    if locked:
        thread.place.lock()
    asked = thread.slash("run", command="ls")
    answer = await asked.answer()
    assert (said in answer) if said else (answer == "On its way.")
    assert len(port.commanded) == (0 if said else 1)


async def test_a_person_who_takes_no_direct_messages_stops_nothing(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, room: Conversation, ada: Person
) -> None:
    ada.block_bot()
    room.place.forbid("send_messages")
    room.mention("one")
    await eventually(lambda: discord.called("POST", "/channels/*/messages"), "the try")
    room.say("two")
    await port.wait_for_event("two")


async def test_what_only_the_sdk_takes_for_forbidden_is_done(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, room: Conversation, chat: Conversation
) -> None:
    room.mention("one")
    await port.wait_for_event("one")
    room.place.forbid("send_messages")
    discord.fail("POST", "/channels/*/typing", 200)
    room.mention("two")
    await port.wait_for_event("two")
    assert chat.from_bot == []


async def test_what_was_said_not_to_be_done_is_not_done_after_a_restart_either(
    opened: Opening, room: Conversation, chat: Conversation, ada: Person
) -> None:
    room.place.forbid("send_messages")
    async with opened():
        chat.say("/whoami")
        await chat.wait_for_text(ada.id)
        room.mention("/run echo one")
        await chat.wait_for_text("I may not write")
    room.place.forbid()
    async with opened():
        chat.say("/jobs")
        await eventually(lambda: len(chat.from_bot) == 3, "an answer after what was missed")
        room.mention("/run echo two")
        assert "echo two" in (await room.wait_for_button("Approve once")).text
    assert "echo one" not in "".join(shown.text for shown in room.from_bot)


async def test_where_the_bot_is_to_hear_nothing_nobody_is_told_why_it_cannot_write(
    opened: Opening, discord: DiscordEmulator, room: Conversation, chat: Conversation, ada: Person
) -> None:
    room.place.forbid("send_messages")
    async with opened(channels__discord__group_policy="off"):
        await eventually(lambda: discord.registered_commands, "the commands")
        room.mention("/run echo one")
        assert await room.slash("run", command="echo two").answer() == "I do not answer in this chat."
        chat.say("/whoami")
        await chat.wait_for_text(ada.id)
        assert len(chat.from_bot) == 1


def test_it_is_told_again_after_an_hour_and_in_another_channel() -> None:
    now = 0.0
    explaining = Explaining(Rooms(), "", lambda: now)

    def asked(chat_id: str) -> bool:
        content = (ContentBlock(BlockType.TEXT, text="hi"),)
        return explaining.is_due(
            inbound_event(
                event_id="1",
                channel="discord",
                chat_id=chat_id,
                sender_id="7",
                timestamp=datetime.now(UTC),
                content=content,
            )
        )

    assert [asked("1"), asked("1"), asked("2")] == [True, False, True]
    now = 3601.0
    assert asked("1")
