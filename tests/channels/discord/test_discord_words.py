"""What a message says by other means than its text, and what the one says that it answers."""

from __future__ import annotations

from typing import Any

import pytest

from channels.discord.adapter import DiscordChannel
from echo_bot.events import BlockType
from echo_bot.testing.discord import Conversation, DiscordEmulator, Person
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.waiting import eventually

AT = "2026-01-01T00:00:00+00:00"
RICH = {
    "type": "rich",
    "author": {"name": "CI"},
    "title": "Build 7 failed",
    "description": "3 tests",
    "fields": [{"name": "branch", "value": "main", "inline": True}],
    "footer": {"text": "12 s"},
}
PREVIEW = {"type": "article", "title": "A page", "description": "about it"}
BUILD = "CI\nBuild 7 failed\n3 tests\nbranch: main\n12 s"
POLL = {
    "question": {"text": "Lunch?"},
    "answers": [
        {"answer_id": 1, "poll_media": {"text": "Pizza"}},
        {"answer_id": 2, "poll_media": {"text": "Sushi"}},
    ],
    "expiry": AT,
    "allow_multiselect": False,
    "layout_type": 1,
}
DISPLAYS = [
    {"type": 10, "id": 1, "content": "Deployed"},
    {"type": 17, "id": 2, "spoiler": False, "components": [{"type": 10, "id": 3, "content": "to eu-1"}]},
]
SNAPSHOT = {
    "content": "look",
    "embeds": [RICH, PREVIEW],
    "attachments": [],
    "timestamp": AT,
    "edited_timestamp": None,
    "type": 0,
    "sticker_items": [{"id": "9", "name": "Wave", "format_type": 1}],
}


@pytest.fixture
def room(discord: DiscordEmulator, ada: Person) -> Conversation:
    return ada.chat(discord.guild("Lab").channel("general"))


def told(discord: DiscordEmulator, message_id: int, **changed: Any) -> dict[str, Any]:
    """A message as the bot was told it, but for what is changed."""
    [session] = discord.gateway.sessions.values()
    creations = [frame["d"] for frame in session.sent if frame["t"] == "MESSAGE_CREATE"]
    return {**next(each for each in creations if each["id"] == str(message_id)), **changed}


@pytest.mark.parametrize(
    ("by_other_means", "text"),
    [
        ({"poll": POLL}, "[poll: Lunch?]\n- Pizza\n- Sushi"),
        (
            {
                "message_reference": {"type": 1, "channel_id": "1", "message_id": "2"},
                "message_snapshots": [{"message": SNAPSHOT}],
            },
            f"look\n{BUILD}\n[Wave]",
        ),
        ({"content": "see", "embeds": [RICH, PREVIEW]}, "see"),
    ],
    ids=["a poll", "a message that is forwarded", "previews of links are nobody's words"],
)
async def test_what_is_said_by_other_means_is_read(
    channel: DiscordChannel,
    port: FakePort,
    discord: DiscordEmulator,
    chat: Conversation,
    by_other_means: dict[str, Any],
    text: str,
) -> None:
    seen = chat.say("first")
    await port.wait_for_event("first")
    changed = {"id": str(seen.id + 1), "content": "", **by_other_means}
    discord.gateway.tell("MESSAGE_CREATE", told(discord, seen.id, **changed))
    await eventually(lambda: len(port.stored) == 2, "the second message")
    assert port.stored[-1].text == text


@pytest.mark.parametrize(
    ("answered", "text"),
    [
        ({"content": "", "embeds": [RICH, PREVIEW]}, BUILD),
        ({"content": "", "components": DISPLAYS, "flags": 1 << 15}, "Deployed\nto eu-1"),
        ({"content": "vote", "poll": POLL}, "vote\n[poll: Lunch?]\n- Pizza\n- Sushi"),
    ],
    ids=["embeds", "displays of text", "a poll"],
)
async def test_what_the_answered_message_says_is_read(
    channel: DiscordChannel,
    port: FakePort,
    discord: DiscordEmulator,
    room: Conversation,
    answered: dict[str, Any],
    text: str,
) -> None:
    first = room.say("first")
    second = room.say("what is this?", reply_to=first)
    await port.wait_for_event("what is this?")
    reply = told(discord, second.id, id=str(second.id + 1))
    reply["referenced_message"] = {**reply["referenced_message"], **answered}
    discord.gateway.tell("MESSAGE_CREATE", reply)
    await eventually(lambda: len(port.stored) == 3, "the reply")
    assert port.stored[-1].reply_to_text == text


async def test_files_of_the_answered_message_come_along_but_not_the_bots_own(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, room: Conversation
) -> None:
    photo = room.say("", files=[("cat.png", b"png")])
    voice = room.say("", files=[("voice-message.ogg", b"OggS")], voice=True)
    room.say("what is that?", reply_to=photo)
    event = await port.wait_for_event("what is that?")
    assert [block.type for block in event.content] == [BlockType.TEXT, BlockType.IMAGE]
    location = await channel.locate(event.content[1])
    assert "cat.png" in location.url
    room.say("and this?", reply_to=voice)
    event = await port.wait_for_event("and this?")
    assert [block.type for block in event.content] == [BlockType.TEXT, BlockType.AUDIO]
    backend = discord.world.backend
    files = backend.store_attachments(room.place.channel.id, [("plot.png", b"png")])
    own = backend.create_message(room.place.channel.id, backend.bot_user.id, "here it is", attachments=files)
    room.say("nice", reply_to=own)
    event = await port.wait_for_event("nice")
    assert [block.type for block in event.content] == [BlockType.TEXT]


async def test_a_webhook_is_no_person_whatever_discord_says_of_its_author(
    channel: DiscordChannel, port: FakePort, discord: DiscordEmulator, chat: Conversation
) -> None:
    seen = chat.say("first")
    await port.wait_for_event("first")
    hook = told(discord, seen.id, id=str(seen.id + 1), webhook_id="77", content="from a hook")
    discord.gateway.tell("MESSAGE_CREATE", hook)
    event = await port.wait_for_event("from a hook")
    assert event.from_bot
