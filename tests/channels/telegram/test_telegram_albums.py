"""Albums are one event, whatever comes between their parts, and a crash neither loses nor repeats a part."""

from __future__ import annotations

import pytest

from channels.telegram.adapter import TelegramChannel
from channels.telegram.standing import Rhythm
from echo_bot.channel import ChannelSettings
from echo_bot.errors import StorageError
from echo_bot.events import BlockType, EventType
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.telegram import Conversation, TelegramEmulator, media
from echo_bot.testing.waiting import eventually

PHOTOS = [media.photo(b"one"), media.photo(b"second"), media.video("c.mp4", b"third one")]


def sizes(port: FakePort) -> list[list[int]]:
    return [[block.size for block in event.content if block.ref] for event in port.stored]


async def test_an_album_is_one_event_in_the_order_of_its_parts(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    first, *_ = sent = chat.send_album(PHOTOS, "look at these")
    event = await port.wait_for_event("look at these")
    assert [block.type for block in event.content] == [
        BlockType.TEXT,
        BlockType.IMAGE,
        BlockType.IMAGE,
        BlockType.VIDEO,
    ]
    assert sizes(port) == [[3, 6, 9]]
    assert event.message_id == str(first.message_id)
    assert event.dedup_ids[1::2] == tuple(f"message:42:{part.message_id}" for part in sent)
    await eventually(lambda: not telegram.world.updates.unconfirmed, "the album confirmed")


async def test_the_caption_counts_whichever_part_has_it(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    group = telegram.user(42, "Ada").chat(telegram.group())
    group.send(PHOTOS[0], album="a")
    captioned = group.send(PHOTOS[1], "@EchoTestBot what is this?", album="a")
    event = await port.wait_for_event("what is this?")
    assert (event.mentioned, event.text, event.message_id) == (
        True,
        "what is this?",
        str(captioned.message_id),
    )


async def test_what_others_say_meanwhile_waits_for_nothing_and_stays_in_order_in_its_chat(
    telegram: TelegramEmulator, settings: ChannelSettings, port: FakePort, chat: Conversation, quick: Rhythm
) -> None:
    for attachment in PHOTOS[:2]:
        chat.send(attachment, album="a")
    chat.say("after the album")
    telegram.user(43, "Bob").chat().say("elsewhere")
    chat.send(PHOTOS[2], album="a")
    channel = TelegramChannel(settings, quick)
    await channel.start(port)
    await port.wait_for_event("after the album")
    await channel.stop()
    assert [event.text for event in port.stored] == ["elsewhere", "", "after the album"]
    assert sizes(port) == [[], [3, 6, 9], []]


async def test_two_albums_at_once_are_two_events(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    bob = telegram.user(43, "Bob").chat()
    for attachment in PHOTOS[:2]:
        chat.send(attachment, album="a")
        bob.send(attachment, album="a")
    await eventually(lambda: len(port.stored) == 2, "both albums")
    assert sizes(port) == [[3, 6], [3, 6]]
    assert {event.sender_id for event in port.stored} == {"42", "43"}


async def test_an_album_that_cannot_be_stored_comes_again_whole(
    channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    port.fail(StorageError("the disk is full"), times=2)
    chat.send_album(PHOTOS, "look")
    await port.wait_for_event("look")
    assert sizes(port) == [[3, 6, 9]]


async def test_stopping_stores_the_parts_that_have_come(
    telegram: TelegramEmulator, settings: ChannelSettings, port: FakePort, chat: Conversation
) -> None:
    channel = TelegramChannel(settings)
    await channel.start(port)
    chat.send_album(PHOTOS, "look")
    await eventually(lambda: len(telegram.called("getUpdates")) > 3, "the parts fetched")
    await channel.stop()
    assert sizes(port) == [[3, 6, 9]]
    assert not telegram.world.updates.unconfirmed


async def test_a_late_part_after_a_crash_is_not_lost_and_the_others_are_not_repeated(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    for attachment in PHOTOS[:2]:
        chat.send(attachment, album="a")
    await eventually(lambda: port.stored, "the first parts")
    for update in list(telegram.world.updates.history[-2:]):
        telegram.redeliver(update)
    chat.send(PHOTOS[2], album="a")
    await eventually(lambda: len(port.stored) == 2, "the late part")
    assert sizes(port) == [[3, 6], [9]]


async def test_an_edited_caption_keeps_the_other_parts(
    channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    first, *_ = chat.send_album(PHOTOS, "loook")
    album = await port.wait_for_event("loook")
    chat.edit(first, "look")
    edit = await port.wait_for_event("look")
    await eventually(lambda: len(port.stored) == 2, "the edit")
    edit = port.stored[-1]
    assert (edit.event_type, edit.message_id) == (EventType.EDIT, album.message_id)
    assert edit.content[1:] == album.content[1:]


async def test_an_edited_caption_keeps_the_other_parts_also_where_one_came_late(
    channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    first = chat.send(PHOTOS[0], "loook", album="a")
    chat.send(PHOTOS[1], album="a")
    await port.wait_for_event("loook")
    chat.send(PHOTOS[2], album="a")
    await eventually(lambda: len(port.stored) == 2, "the late part")
    chat.edit(first, "look")
    await port.wait_for_event("look")
    await eventually(lambda: len(port.stored) == 3, "the edit")
    assert sizes(port) == [[3, 6], [9], [3, 6, 9]]


@pytest.mark.parametrize("caption", ["", "look"])
async def test_a_stranger_s_album_is_not_stored(
    channel: TelegramChannel, port: FakePort, chat: Conversation, caption: str
) -> None:
    port.strangers = {"42"}
    chat.send_album(PHOTOS, caption)
    await eventually(lambda: len(port.seen) == 4, "the album and its parts refused")
    assert port.stored == []
