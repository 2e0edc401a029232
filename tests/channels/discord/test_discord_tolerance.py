"""Events that lack what the SDK insists on: what can be read is, and none of them ends the connection."""

from __future__ import annotations

from typing import Any

import pytest

from channels.discord.adapter import DiscordChannel
from channels.discord.tolerance import Parse, completed, make_tolerant
from echo_bot.events import Address
from echo_bot.testing.channel_contract import CARD
from echo_bot.testing.discord import Conversation, DiscordEmulator, Person
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.waiting import eventually

UNREADABLE = [
    ("MESSAGE_UPDATE", {"id": "1", "channel_id": "2", "embeds": []}),
    ("THREAD_CREATE", {"id": "1", "type": 11, "guild_id": "{guild}", "parent_id": "2", "name": "half"}),
    ("GUILD_CREATE", {"id": "1", "unavailable": False}),
    ("MESSAGE_CREATE", {"id": "1", "channel_id": "2", "content": None}),
    ("INTERACTION_CREATE", {"id": "1", "application_id": "1", "type": 9, "token": "t", "version": 1}),
    ("INTERACTION_CREATE", ["no", "object"]),
    ("A_KIND_OF_TOMORROW", {"id": 7}),
]


def nowhere(channel_id: int) -> None:
    """No channel is known."""


@pytest.mark.parametrize(("event", "data"), UNREADABLE, ids=[event for event, _ in UNREADABLE])
async def test_an_event_that_cannot_be_read_costs_nothing_else(
    channel: DiscordChannel,
    port: FakePort,
    discord: DiscordEmulator,
    chat: Conversation,
    event: str,
    data: Any,
) -> None:
    guild = discord.guild()
    await eventually(lambda: len(discord.gateway.sessions) == 1, "a session")
    if isinstance(data, dict) and data.get("guild_id"):
        data = {**data, "guild_id": guild.id}
    discord.gateway.tell(event, data)
    chat.say("and now")
    await port.wait_for_event("and now")
    assert (len(discord.gateway.sessions), discord.resumes) == (1, 0)


@pytest.mark.parametrize(
    "missing",
    [{"channel"}, {"attachment_size_limit", "locale", "app_permissions", "context"}],
    ids=["the channel", "what is new"],
)
@pytest.mark.parametrize("in_a_server", [True, False], ids=["server", "direct"])
async def test_a_press_counts_where_it_was_made_whatever_else_is_missing(
    channel: DiscordChannel,
    port: FakePort,
    discord: DiscordEmulator,
    ada: Person,
    chat: Conversation,
    missing: set[str],
    in_a_server: bool,
) -> None:
    room = ada.chat(discord.guild().channel("general")) if in_a_server else chat
    await channel.send_card(Address("discord", room.id), CARD)
    discord.gateway.leaves_out = frozenset(missing)
    assert await room.press("Approve once").answer() == "Approved once"
    assert port.presses[0].address == Address("discord", room.id)


async def test_a_message_that_names_no_server_is_no_direct_one_where_the_channel_is_known(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, ada: Person, chat: Conversation
) -> None:
    room = ada.chat(discord.guild().channel("general"))
    discord.gateway.leaves_out = frozenset({"guild_id", "member"})
    room.say("to the others")
    event = await port.wait_for_event("to the others")
    assert (event.chat_id, event.is_group, event.mentioned) == (room.id, True, False)
    chat.say("to the bot")
    assert not (await port.wait_for_event("to the bot")).is_group


async def test_a_command_without_a_channel_object_is_run_where_it_was_given(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, ada: Person
) -> None:
    room = ada.chat(discord.guild().channel("general"))
    await eventually(lambda: discord.registered_commands, "commands")
    discord.gateway.leaves_out = frozenset({"channel"})
    assert await room.slash("status").answer() == "All is well."
    assert (port.commanded[0].chat_id, port.commanded[0].is_group) == (room.id, True)


def test_an_interaction_whose_channel_is_told_by_halves_is_read_with_its_id() -> None:
    tried: list[Any] = []

    def read(data: Any) -> None:
        tried.append(data["channel"])
        if "thread_metadata" not in data["channel"] and data["channel"]["type"] == 11:
            raise KeyError("thread_metadata")

    parsers: dict[str, Parse] = {"INTERACTION_CREATE": read}
    make_tolerant(parsers, nowhere)
    half = {"id": "5", "type": 11}
    parsers["INTERACTION_CREATE"]({"id": "1", "channel_id": "5", "guild_id": "9", "channel": half})
    assert tried == [half, {"id": "5", "type": 0, "name": "", "position": 0}]


@pytest.mark.parametrize("named", [{}, {"guild_id": None}], ids=["no server", "null for the server"])
def test_what_is_pressed_outside_servers_is_pressed_in_a_direct_chat(named: dict[str, Any]) -> None:
    person = {"id": "1", "username": "ada"}
    pressed = {"channel_id": "5", "user": person, **named}
    channel = completed("INTERACTION_CREATE", pressed, nowhere)["channel"]
    assert (channel["type"], [each["id"] for each in channel["recipients"]]) == (1, ["1"])


def test_null_for_the_channel_is_none() -> None:
    assert completed("VOICE_STATE_UPDATE", {"channel_id": None}, nowhere) == {"channel_id": None}


def test_people_are_completed_and_null_words_are_none() -> None:
    person = {"id": "1", "username": "ada"}
    whole = {"discriminator": "0", "avatar": None, "id": "1", "username": "ada"}
    given = {"author": person, "content": None, "member": {"user": person}, "referenced_message": None}
    assert completed("MESSAGE_CREATE", given, nowhere) == {
        "author": whole,
        "content": "",
        "member": {"roles": (), "flags": 0, "user": whole},
        "referenced_message": None,
    }


def test_without_ready_there_is_no_session_so_that_its_faults_are_raised() -> None:
    def broken(data: Any) -> None:
        raise KeyError("user")

    parsers: dict[str, Parse] = {"READY": broken, "RESUMED": broken}
    make_tolerant(parsers, nowhere)
    parsers["RESUMED"]({})
    with pytest.raises(KeyError):
        parsers["READY"]({})
