"""What people write in Slack, as the port gets it."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx
import pytest

from channels.slack.adapter import SlackChannel
from channels.slack.files import is_slacks
from channels.slack.inbound import moment
from echo_bot.errors import StorageError, TargetGone
from echo_bot.events import Address, BlockType, ContentBlock, EventType
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.slack import Conversation, Person, SlackEmulator
from echo_bot.testing.slack.deliveries import DeliveryKind
from echo_bot.testing.waiting import eventually


async def test_a_direct_message_is_answered_where_it_stands(
    channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    said = dm.say("hello &amp; <https://a.b|a.b>")
    event = await port.wait_for_event("hello & ")
    assert (event.chat_id, event.thread_id, event.sender_id) == ("D1", "", "U1")
    assert (event.sender_name, event.is_group, event.mentioned) == ("Ada", False, False)
    assert (event.message_id, event.from_bot) == (said.ts, False)


async def test_a_mention_in_a_channel_is_one_event_in_its_own_thread(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    room = ada.at(slack.channel())
    said = room.mention("what time is it?")
    event = await port.wait_for_event("what time is it?")
    await asyncio.gather(*(delivery.acknowledged() for delivery in room.deliveries))
    assert len(room.deliveries) == 2
    assert [stored.text for stored in port.stored] == ["what time is it?"]
    assert (event.chat_id, event.thread_id, event.is_group, event.mentioned) == ("C1", said.ts, True, True)


async def test_a_reply_in_a_thread_stays_in_it(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    room = ada.at(slack.channel("G1", kind="group"))
    first = room.mention("start")
    room.thread(first).mention("go on")
    event = await port.wait_for_event("go on")
    assert (event.thread_id, event.reply_to_id, event.reply_to_is_own) == (first.ts, first.ts, False)
    direct = ada.dm()
    direct.thread(direct.say("top")).say("below")
    assert (await port.wait_for_event("below")).thread_id != ""


async def test_a_reply_below_the_bots_own_message_counts_as_a_reply_to_it(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    room = ada.at(slack.channel())
    slack.world.messages.append(own := room.say("from the bot"))
    own.user = "UBOT"
    room.thread(own).say("thanks")
    assert (await port.wait_for_event("thanks")).reply_to_is_own


async def test_an_edit_is_an_edit_of_that_message(
    channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    said = dm.say("helo")
    dm.edit(said, "hello")
    event = await port.wait_for_event("hello")
    assert (event.event_type, event.message_id, event.thread_id) == (EventType.EDIT, said.ts, "")
    dm.edit(said, "hello!")
    assert (await port.wait_for_event("hello!")).event_id != event.event_id


async def test_an_edited_mention_is_an_edit_and_no_new_message(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    room = ada.at(slack.channel())
    said = room.say("for later")
    room.edit(said, "<@UBOT> /run ls")
    room.edit(room.mention("what is 1"), "<@UBOT> what is 2")
    await asyncio.gather(*(delivery.acknowledged() for delivery in room.deliveries))
    kinds = [(event.event_type, event.text) for event in port.stored if event.mentioned]
    assert kinds == [
        (EventType.EDIT, "/run ls"),
        (EventType.MESSAGE, "what is 1"),
        (EventType.EDIT, "what is 2"),
    ]


async def test_a_mention_that_comes_first_waits_for_the_files_of_its_message(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    file = slack.world.store_file("plan.csv", "text/csv", b"1").to_json()
    said = {"user": "U1", "text": "<@UBOT> look", "ts": "1800000000.000100", "channel": slack.channel().id}
    mention = slack.deliver_event({**said, "type": "app_mention"})
    message = slack.deliver_event(
        {**said, "type": "message", "subtype": "file_share", "channel_type": "channel", "files": [file]}
    )
    await asyncio.gather(mention.acknowledged(), message.acknowledged())
    (event,) = port.stored
    assert (event.text, [block.name for block in event.content]) == ("look", ["", "plan.csv"])


async def test_a_mention_without_a_message_counts_by_itself(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort
) -> None:
    said = {"user": "U1", "text": "<@UBOT> hi", "ts": "1800000000.000100", "channel": slack.channel().id}
    await slack.deliver_event({**said, "type": "app_mention"}).acknowledged()
    assert [(event.text, event.is_group) for event in port.stored] == [("hi", True)]


async def test_a_forwarded_message_comes_with_its_words_and_files(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    room = slack.user("U2", "Bob").at(slack.channel())
    passed_on = room.upload("log.txt", b"red", "<@UBOT> /run <https://a.b|ls>")
    dm.forward(passed_on)
    event = await port.wait_for_event("forwarded")
    quote = "[forwarded message of Bob]\n@UBOT /run ls (https://a.b)"
    assert [block.text or block.name for block in event.content] == [quote, "log.txt"]
    dm.forward(passed_on, "what broke?")
    event = await port.wait_for_event("what broke?")
    assert [block.text or block.name for block in event.content] == ["what broke?", quote, "log.txt"]
    dm.forward(passed_on, "/run make")
    assert (await port.wait_for_event("make")).text == "/run make"


@pytest.mark.parametrize(
    ("ts_age", "told_age", "age"),
    [
        (7200, 0, 7200),
        (86400, None, 86400),
        (-60, 0, -60),
        (10**9, 7200, 7200),
        (10**9, 10**9, 0),
        (10**9, None, 0),
    ],
    ids=["two hours", "a day", "ahead", "a counter", "two counters", "only a counter"],
)
def test_the_time_of_a_message_is_its_ts_unless_that_can_be_only_an_id(
    ts_age: int, told_age: int | None, age: int
) -> None:
    now = time.time()
    told = None if told_age is None else now - told_age
    assert moment(str(now - ts_age), told).timestamp() == pytest.approx(now - age, abs=5)


@pytest.mark.parametrize("ts", ["", "x", "1e999", "nan"])
def test_a_ts_that_is_no_number_is_now(ts: str) -> None:
    assert moment(ts, "soon").timestamp() == pytest.approx(time.time(), abs=5)


async def test_a_deleted_message_is_told(channel: SlackChannel, port: FakePort, dm: Conversation) -> None:
    said = dm.say("never mind")
    dm.delete(said)
    await eventually(lambda: port.gone, "the deletion")
    assert port.gone == [(Address("slack", dm.chat.id), said.ts)]
    assert [event.text for event in port.stored] == ["never mind"]


async def test_what_nobody_said_is_no_event(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    said = dm.say("one")
    dm.delete(said)
    for subtype in ("channel_join", "channel_topic", "message_replied", "reminder_add"):
        dm.say("noise", extra={"subtype": subtype})
    preview = {**said.to_json(), "attachments": [{"title": "a preview"}]}
    slack.deliver_event(
        {
            "type": "message",
            "subtype": "message_changed",
            "channel": "D1",
            "channel_type": "im",
            "ts": "1.1",
            "message": preview,
            "previous_message": said.to_json(),
        }
    )
    last = slack.deliver_event({"type": "reaction_added", "user": "U1"})
    await last.acknowledged()
    await asyncio.gather(*(delivery.acknowledged() for delivery in slack.deliveries))
    assert [event.text for event in port.stored] == ["one"]


async def test_the_bot_does_not_hear_itself_and_marks_other_bots(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, ada: Person
) -> None:
    room = ada.at(slack.channel())
    room.say("me", extra={"user": "UBOT"})
    room.say("me too", extra={"bot_id": "BBOT"})
    slack.user("U9", "Robo", is_bot=True).at(room.chat).mention("answer me")
    assert (await port.wait_for_event("answer me")).from_bot
    room.say("old style", extra={"subtype": "bot_message", "bot_id": "B7", "user": None})
    event = await port.wait_for_event("old style")
    assert (event.from_bot, event.sender_id) == (True, "B7")
    assert "me" not in [event.text for event in port.stored]


async def test_names_are_asked_for_once_and_never_for_strangers(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    slack.user("U2", "Bob")
    port.strangers = {"U6"}
    slack.user("U6", "Mallory").dm().say("let me in")
    dm.say("ask <@U2> and <@U2>")
    dm.say("again <@U2>")
    await port.wait_for_event("again @Bob")
    assert sorted(call["user"] for call in slack.called("users.info")) == ["U1", "U2"]


async def test_a_name_that_does_not_come_holds_nothing_up(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    slack.fail("users.info", times=2)
    dm.say("nameless")
    assert (await port.wait_for_event("nameless")).sender_name == ""


async def test_names_that_take_too_long_are_not_waited_for_again(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    slack.hold("users.info")
    dm.say("one")
    await port.wait_for_event("one")
    slack.user("U2", "Bob").dm().say("two")
    await port.wait_for_event("two")
    assert (dm.deliveries[0].took_seconds < 3, len(slack.called("users.info"))) == (True, 1)


async def test_messages_of_a_chat_keep_their_order_while_names_are_asked_for(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    held = slack.hold("users.info")
    for number in range(5):
        dm.say(f"line {number}")
    await eventually(lambda: slack.called("users.info"), "the question")
    held.set()
    await port.wait_for_event("line 4")
    assert [event.text for event in port.stored] == [f"line {number}" for number in range(5)]


async def test_a_message_that_comes_again_is_stored_once(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    dm.say("once")
    await port.wait_for_event("once")
    for same in (True, False):
        again = slack.redeliver(dm.deliveries[0], same_envelope=same)
        await again.acknowledged()
    assert [event.text for event in port.stored] == ["once"]
    assert len(port.seen) == 3


async def test_what_cannot_be_stored_is_not_acknowledged(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    port.fail(StorageError("the disk is full"))
    dm.say("precious")
    await eventually(lambda: port.seen, "the try")
    dm.say("next")
    await port.wait_for_event("next")
    assert not dm.deliveries[0].is_acknowledged
    await slack.redeliver(dm.deliveries[0]).acknowledged()
    assert sorted(event.text for event in port.stored) == ["next", "precious"]


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("events_api", {"type": "event_callback", "team_id": "T1"}),
        ("events_api", {"type": "event_callback", "event": None}),
        ("interactive", {"type": "block_actions", "user": {"id": "U1"}, "actions": []}),
        ("events_api", {"type": "event_callback", "event": {"type": "a_kind_of_tomorrow"}}),
        ("interactive", {"type": "an_action_of_tomorrow", "team": None}),
        ("interactive", {"type": "dialog_cancellation", "callback_id": "x"}),
        ("events_api", {}),
        ("slash_commands", {}),
        ("events_api", None),
        ("events_api", []),
    ],
    ids=[
        "no event", "empty event", "no button", "unknown event", "unknown action", "old dialog",
        "empty", "empty command", "none", "list",
    ],
)  # fmt: skip
async def test_what_is_of_no_known_kind_is_acknowledged_once_and_for_all(
    slack: SlackEmulator, channel: SlackChannel, kind: DeliveryKind, payload: Any
) -> None:
    assert (await slack.deliver(kind, payload).acknowledged()).answer == {}


async def test_a_file_is_a_block_and_is_found_where_it_lies(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    dm.upload("notes.txt", b"words", "look")
    event = await port.wait_for_event("look")
    text, file = event.content
    assert text.text == "look"
    assert (file.type, file.name, file.mime, file.size) == (BlockType.FILE, "notes.txt", "text/plain", 5)
    where = await channel.locate(file)
    async with httpx.AsyncClient() as client:
        assert (await client.get(where.url, headers=where.headers)).content == b"words"
    assert slack.bot_token not in repr(where)
    assert not where.at_platform


@pytest.mark.parametrize("tells", [True, False], ids=["told", "not told"])
async def test_of_a_file_from_another_workspace_slack_is_asked_what_it_is(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, dm: Conversation, tells: bool
) -> None:
    stored = slack.world.store_file("plan.png", "image/png", b"x")
    if not tells:
        slack.fail("files.info", "file_not_found")
    shared = {"id": stored.id, "mode": "file_access", "file_access": "check_file_info"}
    said = {"type": "message", "subtype": "file_share", "channel_type": "im", "text": "", "files": [shared]}
    await slack.deliver_event({**said, "channel": dm.chat.id, "user": "U1", "ts": "1.5"}).acknowledged()
    (file,) = port.stored[0].content
    known = (BlockType.IMAGE, "plan.png", "image/png", 1)
    assert (file.type, file.name, file.mime, file.size) == (known if tells else (BlockType.FILE, "", "", 0))
    assert (await channel.locate(file)).url == stored.url


async def test_a_file_known_by_its_id_alone_is_asked_for(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort
) -> None:
    stored = slack.world.store_file("a.bin", "application/octet-stream", b"x")
    assert (await channel.locate(ContentBlock(BlockType.FILE, ref=stored.id))).url == stored.url
    with pytest.raises(TargetGone):
        await channel.locate(ContentBlock(BlockType.FILE, ref="F404"))


@pytest.mark.parametrize(
    ("url", "at_platform"),
    [
        ("https://files.slack.com/files-pri/T1-F1/a.txt", True),
        ("https://files.slack.com:443/files-pri/T1-F1/a.txt", False),
        ("https://team.slack.com/files/a.txt", False),
    ],
)
async def test_only_slacks_file_host_is_called_its_own(
    channel: SlackChannel, url: str, at_platform: bool
) -> None:
    assert (await channel.locate(ContentBlock(BlockType.FILE, ref=url))).at_platform is at_platform


@pytest.mark.parametrize(
    ("mime", "subtype", "kind"),
    [
        ("image/png", "", BlockType.IMAGE),
        ("audio/mpeg", "", BlockType.AUDIO),
        ("video/mp4", "slack_video", BlockType.VIDEO),
        ("audio/webm", "slack_audio", BlockType.VOICE),
    ],
)
async def test_an_attachment_without_words_counts(
    slack: SlackEmulator,
    channel: SlackChannel,
    port: FakePort,
    dm: Conversation,
    mime: str,
    subtype: str,
    kind: BlockType,
) -> None:
    dm.say("", files=(slack.world.store_file("it", mime, b"x", subtype),))
    await port.wait_for_event()
    assert [block.type for block in port.stored[0].content] == [kind]


@pytest.mark.parametrize(
    ("url", "is_trusted"),
    [
        ("https://files.slack.com/files-pri/T1-F1/a.txt", True),
        ("https://acme.slack.com/files/x", True),
        ("https://slack.com.evil.example/x", False),
        ("https://evilslack.com/x", False),
        ("http://files.slack.com/x", False),
        ("https://files.slack.com:8443/x", False),
        ("https://user@files.slack.com/x", False),
        ("http://127.0.0.1:9/x", True),
        ("http://127.0.0.1:10/x", False),
        ("https://docs.google.com/d/1", False),
        ("http://[", False),
    ],
)
def test_the_token_goes_to_slack_and_the_configured_server_alone(url: str, is_trusted: bool) -> None:
    assert is_slacks(url, "http://127.0.0.1:9/api/") is is_trusted
    assert not is_slacks("http://127.0.0.1:9/x", "")
