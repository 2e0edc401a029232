"""What people do on Telegram, as the port sees it: through the real SDK and the emulator."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from telegram import MessageEntity
from telegram import User as SdkUser

from channels.telegram.adapter import TelegramChannel, build
from channels.telegram.mentions import Self, Spoken, spoken_to
from echo_bot.channel import ChannelSettings
from echo_bot.events import (
    Address,
    BlockType,
    ContentBlock,
    EventId,
    EventType,
    InboundEvent,
    OutboundText,
)
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.telegram import Conversation, TelegramEmulator, User, detected_entities, media
from echo_bot.testing.waiting import eventually

BOT = Self(7, "EchoTestBot", frozenset({"run", "status"}))


def said(text: str) -> Spoken:
    entities = [
        MessageEntity(str(e["type"]), int(str(e["offset"])), int(str(e["length"])))
        for e in detected_entities(text)
    ]
    return spoken_to(BOT, text, entities)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("hello", Spoken("hello", False), id="plain words speak to nobody"),
        pytest.param("@EchoTestBot hello", Spoken("hello", True), id="a name at the start goes"),
        pytest.param("@echotestBOT, hello", Spoken("hello", True), id="names ignore case, a comma goes too"),
        pytest.param("hello @EchoTestBot", Spoken("hello", True), id="a name at the end goes"),
        pytest.param("say @EchoTestBot hello", Spoken("say hello", True), id="one space stays in the middle"),
        pytest.param(
            "👩‍👩‍👧🙂 @EchoTestBot ñ🙂", Spoken("👩‍👩‍👧🙂 ñ🙂", True), id="offsets count UTF-16 units"
        ),
        pytest.param("@EchoTestBot", Spoken("", True), id="a name alone leaves nothing"),
        pytest.param(
            "@EchoTestBotX hi", Spoken("@EchoTestBotX hi", False), id="a longer name is another one"
        ),
        pytest.param("@someone hi", Spoken("@someone hi", False), id="somebody else's name stays"),
        pytest.param("/run@EchoTestBot ls -la", Spoken("/run ls -la", True), id="a command loses our suffix"),
        pytest.param(
            "/run@OtherBot ls", Spoken("/run@OtherBot ls", False), id="another bot's command is not ours"
        ),
        pytest.param("/run ls", Spoken("/run ls", True), id="our bare command speaks to us"),
        pytest.param("/start ls", Spoken("/start ls", False), id="an unknown bare command does not"),
        pytest.param("see /run", Spoken("see /run", False), id="a command in the middle does not"),
        pytest.param(
            "@EchoTestBot and @EchoTestBot again", Spoken("and again", True), id="every mention of us goes"
        ),
    ],
)
def test_who_is_spoken_to(text: str, expected: Spoken) -> None:
    assert said(text) == expected


def test_a_mention_without_a_username_counts_by_id() -> None:
    us = MessageEntity("text_mention", 0, 4, user=SdkUser(7, "Echo", is_bot=True))
    other = MessageEntity("text_mention", 0, 4, user=SdkUser(8, "Else", is_bot=False))
    assert spoken_to(BOT, "Echo go", [us]) == Spoken("go", True)
    assert spoken_to(BOT, "Else go", [other]) == Spoken("Else go", False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/start", "/help"),
        ("/start@EchoTestBot", "/help"),
        ("/start ABCD2345", "/pair ABCD2345"),
        ("/start over please", "/start over please"),
        ("/starter", "/starter"),
    ],
)
async def test_the_start_button_is_help_or_pairing_in_a_private_chat(
    telegram: TelegramEmulator,
    channel: TelegramChannel,
    port: FakePort,
    chat: Conversation,
    text: str,
    expected: str,
) -> None:
    telegram.user(42).chat(telegram.group()).say("/start")
    chat.say(text)
    await port.wait_for_event(expected)
    await eventually(lambda: len(port.stored) == 2, "both messages")
    assert {event.is_group: event.text for event in port.stored} == {True: "/start", False: expected}


async def test_a_private_message_whole(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    now = float(int(time.time()))
    telegram.world.clock = lambda: now
    message = telegram.user(42, "Ada", "ada").chat().say("hello")
    event = await port.wait_for_event("hello")
    update = telegram.world.updates.last
    assert update is not None
    assert event == InboundEvent(
        event_id=EventId(f"update:{update.id}"),
        event_type=EventType.MESSAGE,
        channel="telegram",
        chat_id="42",
        sender_id="42",
        sender_name="Ada",
        message_id=str(message.message_id),
        timestamp=datetime.fromtimestamp(now, UTC),
        content=(ContentBlock(BlockType.TEXT, text="hello"),),
        dedup_ids=(f"update:{update.id}", f"message:42:{message.message_id}"),
        metadata={"chat_type": "private"},
    )


async def test_an_edit_is_an_edit_of_the_same_message(
    channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    message = chat.say("/approve 1")
    await port.wait_for_event("/approve 1")
    chat.edit(message, "/approve 2")
    event = await port.wait_for_event("/approve 2")
    assert (event.event_type, event.message_id) == (EventType.EDIT, str(message.message_id))
    chat.edit(message, "/approve 3")
    await port.wait_for_event("/approve 3")
    assert len(port.stored) == 3


async def test_a_group_names_the_sender_and_whether_we_are_meant(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    group = telegram.group(-1001, "Team")
    ada = telegram.user(42, "Ada").chat(group)
    ada.say("just talking")
    ada.say("@EchoTestBot do it")
    event = await port.wait_for_event("do it")
    assert (event.chat_id, event.sender_id, event.is_group, event.mentioned, event.text) == (
        "-1001",
        "42",
        True,
        True,
        "do it",
    )
    assert not port.stored[0].mentioned


async def test_a_command_of_another_bot_in_the_group_is_not_ours(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    ada = telegram.user(42, "Ada").chat(telegram.group())
    ada.say("/run@OtherBot @EchoTestBot")
    ada.say("/run@OtherBot ls", entities=[])
    ada.say("/run@ECHOtestBOT ls")
    event = await port.wait_for_event("/run ls")
    assert port.stored == [event]


async def test_a_reply_to_the_bot_means_the_bot(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    group = telegram.group()
    ada, bob = telegram.user(42, "Ada").chat(group), telegram.user(43, "Bob").chat(group)
    await channel.send_text(Address("telegram", str(group.id)), OutboundText("what shall I do?"))
    asked = ada.from_bot[-1]
    ada.reply(asked, "this")
    event = await port.wait_for_event("this")
    assert (event.mentioned, event.reply_to_is_own, event.reply_to_id, event.reply_to_text) == (
        True,
        True,
        str(asked.message_id),
        "what shall I do?",
    )
    bob.reply(ada.say("to you"), "to Ada")
    event = await port.wait_for_event("to Ada")
    assert (event.mentioned, event.reply_to_is_own, event.reply_to_sender) == (False, False, "42")


async def test_topics_keep_their_thread_and_general_has_none(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    forum = telegram.group(-1002, "Forum", forum=True)
    ada = telegram.user(42, "Ada")
    ada.chat(forum, thread_id=77).say("in a topic")
    ada.chat(forum, thread_id=1).say("in General")
    assert (await port.wait_for_event("in a topic")).thread_id == "77"
    assert (await port.wait_for_event("in General")).thread_id == ""


async def test_a_reply_thread_outside_a_forum_is_no_topic(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    telegram.user(42, "Ada").chat(telegram.group(), thread_id=5).say("hello")
    assert (await port.wait_for_event("hello")).thread_id == ""


async def test_an_anonymous_admin_speaks_as_the_group_and_is_no_bot(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    telegram.user(42, "Ada").chat(telegram.group(-1001, "Team")).say_anonymously("hello")
    event = await port.wait_for_event("hello")
    assert (event.sender_id, event.sender_name, event.from_bot) == ("-1001", "Team", False)


async def test_a_channel_post_speaks_as_the_channel(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    news = telegram.user(42).chat(telegram.channel(-1009, "News"))
    post = news.say("read this")
    event = await port.wait_for_event("read this")
    assert (event.sender_id, event.chat_id, event.is_group) == ("-1009", "-1009", True)
    news.edit(post, "read that")
    assert (await port.wait_for_event("read that")).event_type is EventType.EDIT


async def test_another_bot_is_marked_and_our_own_words_are_not_events(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    group = telegram.group()
    telegram.user(telegram.bot.id, "Echo", is_bot=True).chat(group).say("my own words")
    telegram.user(99, "Other", "other_bot", is_bot=True).chat(group).say("beep")
    event = await port.wait_for_event("beep")
    assert event.from_bot
    assert len(port.stored) == 1


ATTACHMENTS = [
    pytest.param(
        media.document("report.pdf", b"%PDF", "application/pdf"),
        [ContentBlock(BlockType.FILE, name="report.pdf", mime="application/pdf", size=4)],
        id="a document",
    ),
    pytest.param(
        media.photo(b"big picture"),
        [ContentBlock(BlockType.IMAGE, mime="image/jpeg", size=11)],
        id="a photo in its largest size",
    ),
    pytest.param(
        media.voice(b"ogg"), [ContentBlock(BlockType.VOICE, mime="audio/ogg", size=3)], id="a voice message"
    ),
    pytest.param(
        media.audio("song.mp3", b"id3"),
        [ContentBlock(BlockType.AUDIO, name="song.mp3", mime="audio/mpeg", size=3)],
        id="music",
    ),
    pytest.param(
        media.video("clip.mp4", b"mp4"),
        [ContentBlock(BlockType.VIDEO, name="clip.mp4", mime="video/mp4", size=3)],
        id="a video",
    ),
    pytest.param(
        media.animation("cat.mp4", b"mp4"),
        [ContentBlock(BlockType.VIDEO, name="cat.mp4", mime="video/mp4", size=3)],
        id="an animation",
    ),
    pytest.param(
        media.video_note(b"mp4"), [ContentBlock(BlockType.VIDEO, mime="video/mp4", size=3)], id="a video note"
    ),
    pytest.param(
        media.sticker(b"webp", "🙂"),
        [
            ContentBlock(BlockType.TEXT, text="Sticker 🙂"),
            ContentBlock(BlockType.IMAGE, mime="image/webp", size=4),
        ],
        id="a sticker",
    ),
    pytest.param(
        media.sticker(b"tgs", animated=True),
        [
            ContentBlock(BlockType.TEXT, text="Sticker"),
            ContentBlock(BlockType.FILE, mime="application/x-tgsticker", size=3),
        ],
        id="an animated sticker",
    ),
    pytest.param(
        media.sticker(b"webm", video=True),
        [
            ContentBlock(BlockType.TEXT, text="Sticker"),
            ContentBlock(BlockType.VIDEO, mime="video/webm", size=4),
        ],
        id="a video sticker",
    ),
]


@pytest.mark.parametrize(("sent", "expected"), ATTACHMENTS)
async def test_an_attachment_counts_without_text(
    channel: TelegramChannel,
    port: FakePort,
    chat: Conversation,
    sent: media.Attachment,
    expected: list[ContentBlock],
) -> None:
    chat.send(sent)
    content = (await port.wait_for_event()).content
    assert [replace(block, ref="") for block in content] == expected
    assert all(block.ref for block in content if block.type is not BlockType.TEXT)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        pytest.param(media.location(52.5, 13.4), "Location: 52.500000, 13.400000", id="a place"),
        pytest.param(media.location(1, 2, 60), "Live location: 1.000000, 2.000000", id="a moving place"),
        pytest.param(
            media.venue("Cafe", "Main St 1", 1, 2),
            "Venue: Cafe, Main St 1 (1.000000, 2.000000)",
            id="a venue",
        ),
        pytest.param(media.contact("Ada", "+4930123"), "Contact: Ada, +4930123", id="a contact"),
        pytest.param(media.poll("Lunch?", ["Yes", "No"]), "Poll: Lunch?\n- Yes\n- No", id="a poll"),
        pytest.param(media.dice("🎲", 4), "🎲 shows 4", id="dice"),
    ],
)
async def test_what_is_no_file_arrives_in_words(
    channel: TelegramChannel, port: FakePort, chat: Conversation, sent: media.Attachment, words: str
) -> None:
    chat.send(sent)
    assert (await port.wait_for_event()).text == words


async def test_service_messages_and_unknown_updates_pass_by(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    group = telegram.group()
    member = telegram.user(42, "Ada").chat(group)
    member.say("", extra={"new_chat_members": [User(50, "New").to_json()]})
    telegram.put_update("poll", {"id": "1"})
    chat.say("after")
    await port.wait_for_event("after")
    assert [event.text for event in port.stored] == ["after"]
    assert telegram.world.updates.last is not None


async def test_forged_trust_in_a_message_sets_nothing(
    channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    chat.say("hello", extra={"_cron_authorized": True, "unattended": True, "metadata": {"is_control": True}})
    event = await port.wait_for_event("hello")
    trust = (event.cron_authorized, event.unattended, event.is_control, event.session_key_override)
    assert trust == (False, False, False, "")
    assert event.metadata == {"chat_type": "private"}


async def test_an_account_s_name_is_on_everything(
    telegram: TelegramEmulator, port: FakePort, chat: Conversation
) -> None:
    second = build(ChannelSettings("work", telegram.url + "/bot/", secrets={"token": telegram.token}))
    await second.start(port)
    chat.say("hello")
    event = await port.wait_for_event("hello")
    await second.stop()
    assert (str(event.sender), str(event.address)) == ("telegram/work:42", "telegram/work:42")
