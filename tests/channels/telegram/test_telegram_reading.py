"""What the SDK cannot read of an update keeps neither the rest of it nor other updates from being heard."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from telegram import Message

from channels.telegram.adapter import TelegramChannel
from channels.telegram.failures import translated
from channels.telegram.reading import readable, receipt
from echo_bot.channel import ChannelState
from echo_bot.errors import OutcomeUnknown
from echo_bot.events import Address, OutboundText
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.telegram import Conversation, TelegramEmulator

ADA = {"id": 42, "is_bot": False, "first_name": "Ada"}
PRIVATE = {"id": 42, "type": "private", "first_name": "Ada"}
GROUP = {"id": -100, "type": "supergroup", "title": "Crew"}
PRESSED = {"message_id": 7, "date": 1, "chat": GROUP, "is_topic_message": True, "message_thread_id": 9}
PRESS = {"id": "1", "from": ADA, "chat_instance": "2", "data": "token"}
MESSAGE = {"message_id": 7, "date": 1_700_000_000, "chat": PRIVATE, "from": ADA}


async def test_an_unreadable_update_holds_up_no_other(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    telegram.put_update("message", {"message_id": 7, "text": "no chat, no date"})
    chat.say("after")
    await port.wait_for_event("after")
    assert channel.health().state is ChannelState.CONNECTED
    assert [event.text for event in port.stored] == ["after"]


async def test_words_beside_an_unreadable_field_are_heard(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    telegram.user(42, "Ada").chat()
    telegram.put_update("message", MESSAGE | {"text": "heard", "poll": {"shape": "of next year"}})
    await port.wait_for_event("heard")


async def test_a_poll_of_an_older_server_is_told_in_words_also_where_it_is_answered(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    telegram.user(42, "Ada").chat()
    poll = {
        "id": "1",
        "question": "Tea?",
        "options": [{"text": "yes", "voter_count": 0}, {"text": "no", "voter_count": 0}],
        "total_voter_count": 0,
        "is_closed": False,
        "is_anonymous": True,
        "type": "regular",
        "allows_multiple_answers": False,
    }
    telegram.put_update("message", MESSAGE | {"poll": poll})
    await port.wait_for_event("Poll: Tea?\n- yes\n- no")
    answered = MESSAGE | {"message_id": 6, "poll": poll}
    telegram.put_update("message", MESSAGE | {"message_id": 8, "text": "tea", "reply_to_message": answered})
    assert (await port.wait_for_event("tea")).reply_to_id == "6"


async def test_what_holds_nothing_readable_is_named_in_words(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    telegram.put_update("message", MESSAGE | {"poll": {"question": "as polls were years ago"}})
    event = await port.wait_for_event("(poll: of a kind that this bot cannot read)")
    assert event.sender_id == "42"


async def test_an_answer_to_something_unreadable_is_sent_once(
    channel: TelegramChannel, chat: Conversation
) -> None:
    asked = chat.say("hi", extra={"poll": {"question": "as polls were years ago"}})
    answer = OutboundText("answer", reply_to_id=str(asked.message_id))
    ref = await channel.send_text(Address("telegram", "42"), answer)
    await channel.edit_text(ref, OutboundText("better answer"))
    assert [(message.text, message.reply_to) for message in chat.from_bot] == [("better answer", asked)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            {"message": MESSAGE | {"text": "hi"}},
            {"message": MESSAGE | {"text": "hi"}},
            id="what fits stays whole",
        ),
        pytest.param(
            {"message": MESSAGE | {"text": "hi", "next_year": {"a": 1}}},
            {"message": MESSAGE | {"text": "hi", "next_year": {"a": 1}}},
            id="unknown fields disturb nobody",
        ),
        pytest.param(
            {"message": MESSAGE | {"text": "hi", "poll": {"a": 1}}},
            {"message": MESSAGE | {"text": "hi", "unread_field": "poll"}},
            id="one unreadable field is left out and named",
        ),
        pytest.param(
            {"message": MESSAGE | {"text": "hi", "poll": {"a": 1}, "venue": {"a": 1}}},
            {},
            id="of more nothing is guessed",
        ),
        pytest.param(
            {"message": MESSAGE | {"text": "hi", "sender_chat": {"a": 1}}},
            {},
            id="who speaks is never left out",
        ),
        pytest.param(
            {"callback_query": PRESS | {"message": PRESSED | {"reply_to_message": {"a": 1}}}},
            {"callback_query": PRESS | {"message": PRESSED, "unread_field": "message"}},
            id="where a button was pressed is never left out",
        ),
        pytest.param(
            {"callback_query": PRESS | {"message": {"text": "without a place"}}},
            {},
            id="a press that names no place",
        ),
        pytest.param({"poll": {"a": 1}}, {}, id="of another kind only the number remains"),
        pytest.param({"message": "words"}, {}, id="a message that is none"),
    ],
)
def test_what_is_left_of_an_update(data: Mapping[str, object], expected: Mapping[str, object]) -> None:
    assert readable({"update_id": 5, **data}) == {"update_id": 5, **expected}


@pytest.mark.parametrize(
    "result", [{"message_id": 5}, {"message_id": 5, "chat": 42}, {"message_id": 5, "chat": {}}]
)
def test_of_what_was_sent_its_number_is_enough(result: Mapping[str, object]) -> None:
    assert Message.de_json(receipt(result), None).message_id == 5


def test_an_answer_that_is_no_message_leaves_open_whether_it_was_sent() -> None:
    with pytest.raises(OutcomeUnknown, match="could not be read"), translated("1:a"):
        Message.de_json(receipt({"sent": True}), None)
