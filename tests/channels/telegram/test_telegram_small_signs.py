"""Reactions, moved groups and closed topics: what shows that the bot noticed."""

from __future__ import annotations

import pytest

from channels.telegram.adapter import TelegramChannel
from echo_bot.errors import StorageError, TargetGone
from echo_bot.events import Address, Card, OutboundText, Paragraph
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.telegram import Conversation, TelegramEmulator, media
from echo_bot.testing.waiting import eventually


async def test_a_taken_message_in_a_group_is_marked_and_a_command_is_not(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    ada = telegram.user(42, "Ada").chat(telegram.group())
    command, words = ada.say("/status"), ada.say("@EchoTestBot hello")
    await eventually(lambda: words.reactions == ("👀",), "the sign")
    assert command.reactions == ()


async def test_in_a_private_chat_only_files_are_marked(
    channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    words, file = chat.say("hello"), chat.send(media.voice(b"ogg"))
    await eventually(lambda: file.reactions == ("👀",), "the sign")
    assert words.reactions == ()


async def test_what_was_not_taken_is_not_marked(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    port.strangers = {"66"}
    group = telegram.group()
    stranger = telegram.user(66).chat(group).say("@EchoTestBot hello")
    known = telegram.user(42).chat(group).say("@EchoTestBot hello")
    await eventually(lambda: known.reactions, "the sign")
    telegram.redeliver()
    telegram.user(42).chat().say("after")
    await port.wait_for_event("after")
    assert stranger.reactions == ()
    assert len(telegram.called("setMessageReaction")) == 1


async def test_a_group_without_reactions_loses_nothing(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    group = telegram.group()
    group.allows_reactions = False
    telegram.user(42).chat(group).say("@EchoTestBot hello")
    await port.wait_for_event("hello")
    await eventually(lambda: telegram.called("setMessageReaction"), "the try")


async def test_a_group_that_says_it_moved_is_told_to_the_core_once(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    telegram.upgrade(telegram.group(-5, "Team"), -1005)
    telegram.user(42).chat().say("after")
    await port.wait_for_event("after")
    assert port.moved == [(Address("telegram", "-5"), "-1005")]
    assert len(port.stored) == 1
    ref = await channel.send_text(Address("telegram", "-5"), OutboundText("hello"))
    assert ref.address == Address("telegram", "-1005")
    assert len(telegram.called("sendMessage")) == 1


async def test_a_send_that_learns_of_the_move_tells_the_core_and_goes_to_the_new_chat(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    telegram.group(-5, "Team").moved_to = telegram.group(-1005, "Team").id
    card = Card("c1", "exec", (Paragraph("ls"),))
    ref = await channel.send_card(Address("telegram", "-5"), card)
    assert ref.address == Address("telegram", "-1005")
    assert port.moved == [(Address("telegram", "-5"), "-1005")]
    await channel.typing(Address("telegram", "-5"))
    assert telegram.world.typed == [(-1005, 0, "typing")]


async def test_a_send_goes_to_the_new_chat_also_when_the_core_cannot_note_the_move(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    class Port(FakePort):
        async def chat_moved(self, old: Address, new_chat_id: str) -> None:
            raise StorageError("the disk is full")

    await channel.stop()
    await channel.start(Port())
    telegram.group(-5, "Team").moved_to = telegram.group(-1005, "Team").id
    ref = await channel.send_text(Address("telegram", "-5"), OutboundText("hello"))
    assert ref.address == Address("telegram", "-1005")


@pytest.mark.parametrize("trouble", ["closed", "deleted"])
async def test_a_topic_that_takes_no_messages_is_gone(
    telegram: TelegramEmulator, channel: TelegramChannel, trouble: str
) -> None:
    forum = telegram.group(-1002, "Forum", forum=True)
    telegram.user(42).chat(forum, thread_id=77)
    (telegram.close_topic if trouble == "closed" else telegram.delete_topic)(forum, 77)
    with pytest.raises(TargetGone):
        await channel.send_text(Address("telegram", "-1002", "77"), OutboundText("hello"))


async def test_a_card_pings_nobody(channel: TelegramChannel, chat: Conversation) -> None:
    words = "@someone said /deny #now to https://evil.example and evil.example"
    await channel.send_card(Address("telegram", "42"), Card("c1", words, (Paragraph(words, strong=True),)))
    message = chat.from_bot[-1]
    assert message.text == f"{words}\n\n{words}"
    for kind in ("mention", "bot_command", "hashtag", "url"):
        assert message.marked(kind) == []
