"""What people write, as events: places, mentions, replies, edits, files, and who is a bot."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from channels.discord.adapter import DiscordChannel
from channels.discord.attachments import location_of, name_of
from channels.discord.places import Where, where_of
from echo_bot.errors import StorageError, TargetGone
from echo_bot.events import Address, BlockType, ContentBlock, EventType
from echo_bot.testing.discord import Conversation, DiscordEmulator, Person
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.waiting import eventually


@pytest.fixture
def room(discord: DiscordEmulator, ada: Person) -> Conversation:
    guild = discord.guild("Lab")
    return ada.chat(guild.channel("general", guild.category("Work")))


async def test_a_direct_chat_is_no_group_and_carries_the_channels_id(
    channel: DiscordChannel, port: FakePort, ada: Person, chat: Conversation
) -> None:
    chat.say("hello")
    event = await port.wait_for_event("hello")
    assert (event.chat_id, event.thread_id, event.sender_id) == (chat.id, "", ada.id)
    assert (event.is_group, event.mentioned, event.from_bot) == (False, False, False)
    assert event.sender_name == "Ada"
    assert abs((datetime.now(UTC) - event.timestamp).total_seconds()) < 5
    assert event.event_id == f"message:{event.message_id}"


async def test_a_channel_is_a_group_and_says_its_names(
    channel: DiscordChannel, port: FakePort, room: Conversation
) -> None:
    room.say("hello")
    event = await port.wait_for_event("hello")
    assert (event.chat_id, event.is_group, event.mentioned) == (room.id, True, False)
    assert event.metadata == {"channel": "general", "category": "Work", "server": "Lab"}


@pytest.mark.parametrize("announced", [True, False], ids=["a known thread", "a thread out of the archive"])
async def test_a_thread_belongs_to_its_channel(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, ada: Person, announced: bool
) -> None:
    guild = discord.guild("Lab")
    parent = guild.channel("general", guild.category("Work"))
    await eventually(lambda: len(discord.gateway.sessions) == 1, "a session")
    thread = guild.thread(parent, "plan", announced=announced)
    ada.chat(thread).mention("look")
    event = await port.wait_for_event("look")
    assert (event.chat_id, event.thread_id, event.is_group) == (parent.id, thread.id, True)
    assert event.metadata["category"] == "Work"


@pytest.mark.parametrize(
    ("written", "text", "mentioned"),
    [
        ("<@{bot}> run it", "run it", True),
        ("<@!{bot}>, run it", "run it", True),
        ("<@&{role}> run it", "run it", True),
        ("run it <@{bot}> please", "run it please", True),
        ("<@{bot}>", "", True),
        ("@echo run it", "@echo run it", False),
        ("<@1> run it", "<@1> run it", False),
        ("@everyone run it", "@everyone run it", False),
    ],
)
async def test_only_its_mention_speaks_to_the_bot(
    channel: DiscordChannel,
    port: FakePort,
    discord: DiscordEmulator,
    ada: Person,
    written: str,
    text: str,
    mentioned: bool,
) -> None:
    guild = discord.guild("Lab")
    room = ada.chat(guild.channel("general"))
    room.say(written.format(bot=discord.bot_id, role=guild.bot_role_id))
    event = await port.wait_for_event()
    assert (event.text, event.mentioned) == (text, mentioned)


async def test_a_reply_to_the_bot_speaks_to_it_and_one_to_others_does_not(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, room: Conversation
) -> None:
    world = discord.world.backend
    own = world.create_message(room.place.channel.id, world.bot_user.id, "shall I?")
    first = room.say("yes", reply_to=own)
    event = await port.wait_for_event("yes")
    assert (event.reply_to_id, event.reply_to_text) == (str(own.id), "shall I?")
    assert (event.reply_to_is_own, event.mentioned, event.reply_to_sender) == (True, True, discord.bot_id)
    room.say("and me", reply_to=first)
    other = await port.wait_for_event("and me")
    assert (other.reply_to_is_own, other.mentioned) == (False, False)


async def test_an_edit_is_an_edit_and_each_one_counts_once(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, chat: Conversation
) -> None:
    message = chat.say("rm")
    await port.wait_for_event("rm")
    chat.edit(message, "ls")
    discord.redeliver()
    edit = await port.wait_for_event("ls")
    assert (edit.event_type, edit.message_id) == (EventType.EDIT, str(message.id))
    chat.edit(message, "pwd")
    await port.wait_for_event("pwd")
    assert [event.text for event in port.stored] == ["rm", "ls", "pwd"]


async def test_a_deleted_message_is_told(channel: DiscordChannel, port: FakePort, chat: Conversation) -> None:
    message = chat.say("never mind")
    chat.delete(message)
    await eventually(lambda: port.gone, "the deletion")
    assert port.gone == [(Address("discord", str(message.channel_id)), str(message.id))]


async def test_messages_that_are_deleted_together_are_told_one_by_one(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, room: Conversation
) -> None:
    gone = [str(room.say(text).id) for text in ("one", "two")]
    await port.wait_for_event("two")
    of_server = {"channel_id": room.id, "guild_id": str(room.place.channel.guild_id)}
    discord.gateway.tell("MESSAGE_DELETE_BULK", {"ids": gone, **of_server})
    await eventually(lambda: len(port.gone) == 2, "both")
    assert port.gone == [(Address("discord", room.id), each) for each in gone]


async def test_a_message_that_comes_again_counts_once(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, chat: Conversation
) -> None:
    chat.say("once")
    discord.redeliver()
    await eventually(lambda: len(port.seen) == 2, "the repeat")
    assert [event.text for event in port.stored] == ["once"]


async def test_files_count_without_text_and_are_found_after_their_links_expired(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, chat: Conversation
) -> None:
    files = [("plan.pdf", b"%PDF"), ("cat.png", b"png"), ("song.mp3", b"mp3"), ("clip.mp4", b"mp4")]
    message = chat.say("", files=files)
    event = await port.wait_for_event()
    kinds = [(block.type, block.name, block.size, block.mime) for block in event.content]
    assert kinds == [
        (BlockType.FILE, "plan.pdf", 4, "application/pdf"),
        (BlockType.IMAGE, "cat.png", 3, "image/png"),
        (BlockType.AUDIO, "song.mp3", 3, "audio/mpeg"),
        (BlockType.VIDEO, "clip.mp4", 3, "video/mp4"),
    ]
    first = await channel.locate(event.content[0])
    discord.skew(3 * 86400)
    again = await channel.locate(event.content[0])
    assert first.url.startswith(f"{discord.url}/cdn/attachments/")
    assert again.url != first.url
    assert not first.at_platform
    chat.delete(message)
    with pytest.raises(TargetGone, match="deleted"):
        await channel.locate(event.content[0])


@pytest.mark.parametrize(
    ("url", "at_platform"),
    [
        ("https://cdn.discordapp.com/attachments/1/2/a.txt?ex=1", True),
        ("https://media.discordapp.net/attachments/1/2/a.txt", True),
        ("https://cdn.discordapp.com.example/attachments/1/2/a.txt", False),
        ("http://cdn.discordapp.com/attachments/1/2/a.txt", False),
    ],
)
def test_only_discords_file_hosts_are_called_its_own(url: str, at_platform: bool) -> None:
    assert location_of(url).at_platform is at_platform


@pytest.mark.parametrize("reference", ["", "1/2", "a/b/c", "AgADBAAD"])
async def test_a_reference_of_another_kind_is_no_file(channel: DiscordChannel, reference: str) -> None:
    with pytest.raises(TargetGone):
        await channel.locate(ContentBlock(BlockType.FILE, ref=reference))


async def test_a_voice_message_is_voice(channel: DiscordChannel, port: FakePort, chat: Conversation) -> None:
    chat.say("", files=[("voice-message.ogg", b"OggS")], voice=True)
    event = await port.wait_for_event()
    assert [(block.type, block.mime) for block in event.content] == [(BlockType.VOICE, "audio/ogg")]


async def test_other_bots_are_marked_and_the_bot_does_not_hear_itself(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, room: Conversation
) -> None:
    world = discord.world.backend
    world.create_message(room.place.channel.id, world.bot_user.id, "my own")
    discord.user("Robot", is_bot=True).chat(room.place).say("beep")
    event = await port.wait_for_event("beep")
    assert event.from_bot
    assert [each.text for each in port.seen] == ["beep"]


async def test_what_discord_itself_says_is_no_message(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, room: Conversation
) -> None:
    message = room.say("pin me")
    discord.world.backend.set_pinned(message.channel_id, message.id, True, actor_id=message.author_id)
    room.say("after")
    await port.wait_for_event("after")
    assert [event.text for event in port.stored] == ["pin me", "after"]


async def test_what_cannot_be_stored_is_tried_again_before_the_next(
    channel: DiscordChannel, port: FakePort, chat: Conversation
) -> None:
    port.fail(StorageError("disk full"))
    chat.say("first")
    chat.say("second")
    await eventually(lambda: "disk full" in channel.health().error, "the reason in the health")
    await port.wait_for_event("second")
    assert [event.text for event in port.stored] == ["first", "second"]
    assert channel.health().error == ""


async def test_reactions_say_nothing(channel: DiscordChannel, port: FakePort, chat: Conversation) -> None:
    message = chat.say("hi")
    chat.react(message, "👍")
    await port.wait_for_event("hi")
    await asyncio.sleep(0)
    assert len(port.seen) == 1


def last_told(discord: DiscordEmulator, event: str) -> dict[str, Any]:
    """What the bot was told last of a kind."""
    [session] = discord.gateway.sessions.values()
    return next(frame["d"] for frame in reversed(session.sent) if frame["t"] == event)


async def test_a_reply_to_the_bot_speaks_to_it_also_when_the_message_is_gone(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, room: Conversation
) -> None:
    world = discord.world.backend
    own = world.create_message(room.place.channel.id, world.bot_user.id, "shall I?")
    channel_id, bot = room.place.channel.id, discord.bot_id
    replying = {"type": 19, "message_reference": {"channel_id": str(channel_id), "message_id": str(own.id)}}
    answered = room.say("yes")
    message = last_told(discord, "MESSAGE_CREATE")
    named = [{"id": bot, "username": "echo", "discriminator": "0", "avatar": None}]
    for number, told in enumerate((named, []), 1):
        gone = {"id": str(answered.id + number), "mentions": told, "referenced_message": None}
        discord.gateway.tell("MESSAGE_CREATE", message | replying | gone)
    await eventually(lambda: len(port.stored) == 3, "all three")
    assert [event.mentioned for event in port.stored] == [False, True, False]


async def test_what_the_bot_writes_in_an_unknown_thread_asks_for_nothing(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, room: Conversation
) -> None:
    room.say("before")
    await port.wait_for_event("before")
    message = last_told(discord, "MESSAGE_CREATE")
    author = {"id": discord.bot_id, "username": "echo", "discriminator": "0", "avatar": None, "bot": True}
    unknown = {"id": "1" * 18, "channel_id": "2" * 18, "author": author}
    discord.gateway.tell("MESSAGE_CREATE", message | unknown)
    room.say("after")
    await port.wait_for_event("after")
    assert discord.called("GET", "/channels/*") == []


@pytest.mark.parametrize(
    ("filename", "title", "name"),
    [
        ("plan.pdf", None, "plan.pdf"),
        ("berblick_1.txt", "Überblick 1", "Überblick 1.txt"),
        ("a_b.txt", "a b.txt", "a b.txt"),
        ("README", "LIES MICH", "LIES MICH"),
    ],
)
def test_a_file_is_called_as_its_sender_called_it(filename: str, title: str | None, name: str) -> None:
    class Known:
        pass

    known = Known()
    known.filename, known.title = filename, title  # type: ignore[attr-defined]
    assert name_of(known) == name  # type: ignore[arg-type]


def test_an_address_is_written_as_clients_write_it() -> None:
    written = "https://cdn.discordapp.com/a/1/my notes ü%20.txt?ex=1&is=2&hm=a%2Bb&"
    assert location_of(written).url == (
        "https://cdn.discordapp.com/a/1/my%20notes%20%C3%BC%20.txt?ex=1&is=2&hm=a%2Bb&"
    )


@pytest.mark.parametrize(
    ("described", "place"),
    [
        (
            {"id": "1", "type": 11, "parent_id": "2", "name": "plan"},
            Where("2", "1", names=(("thread", "plan"),)),
        ),
        ({"id": "1", "type": 12, "parent_id": "2"}, Where("2", "1")),
        ({"id": 1, "type": 2, "parent_id": "2", "name": "voice"}, Where("1")),
        ({"id": "1", "type": 1}, Where("1", is_group=False)),
        ({"id": "1"}, Where("1")),
    ],
)
def test_a_place_is_known_however_little_the_server_says_of_it(
    described: dict[str, Any], place: Where
) -> None:
    assert where_of(described, lambda channel_id: None) == place
