"""Presses: each reaches the port once, gets one answer, and no trouble with the answer undoes a decision."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from channels.telegram.adapter import TelegramChannel
from channels.telegram.keyboard import keyboard_of, read_callback_data
from channels.telegram.standing import Rhythm
from echo_bot.channel import ChannelSettings, Prompt
from echo_bot.errors import FormatRejected, StorageError
from echo_bot.events import (
    Address,
    Button,
    ButtonPress,
    Card,
    Identity,
    OutboundText,
    Paragraph,
    PressReply,
)
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.telegram import Conversation, QueryAnswer, TelegramEmulator
from echo_bot.testing.waiting import eventually

HERE = Address("telegram", "42")
CARD = Card(
    "c1",
    "exec",
    (Paragraph("ls"),),
    (Button("Approve once", "t-once"), Button("Deny with reason", "t-why", prompt="Why not?")),
)


async def test_a_press_carries_who_where_and_what(
    channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    ref = await channel.send_card(HERE, CARD)
    press = chat.press("Approve once")
    assert await press.answer() == QueryAnswer("Approved once", False)
    assert port.presses == [
        ButtonPress(
            press_id=f"query:{press.query.id}",
            token="t-once",
            presser=Identity("telegram", "42"),
            address=HERE,
            message_id=ref.message_id,
            presser_name="Ada",
        )
    ]


async def test_a_refusal_is_shown_where_it_is_not_overlooked(
    channel: TelegramChannel, port: FakePort, chat: Conversation, settings: ChannelSettings
) -> None:
    refusing = FakePort(PressReply("You may not decide this", ok=False))
    await channel.stop()
    await channel.start(refusing)
    await channel.send_card(HERE, CARD)
    assert await chat.press("Approve once").answer() == QueryAnswer("You may not decide this", True)


async def test_a_long_answer_is_cut_to_what_telegram_takes(
    channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    await channel.stop()
    await channel.start(FakePort(PressReply("x" * 300)))
    await channel.send_card(HERE, CARD)
    answer = await chat.press("Approve once").answer()
    assert answer.text == "x" * 199 + "…"


async def test_a_press_in_a_topic_keeps_its_thread(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    topic = telegram.user(42, "Ada").chat(telegram.group(-1002, "Forum", forum=True), thread_id=77)
    address = Address("telegram", "-1002", "77")
    await channel.send_card(address, CARD)
    topic.press("Approve once")
    assert (await port.wait_for_press()).address == address


async def test_an_answer_that_fails_stops_nothing(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    telegram.fail("answerCallbackQuery", 400, "Bad Request: query is too old", times=1)
    telegram.drop("answerCallbackQuery", times=1)
    await channel.send_card(HERE, CARD)
    chat.press("Approve once")
    chat.press("Approve once")
    await port.wait_for_press(2)
    assert await chat.press("Approve once").answer() == QueryAnswer("Approved once", False)


@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(lambda telegram: telegram.fail("answerCallbackQuery", 500, times=1), id="it failed"),
        pytest.param(
            lambda telegram: telegram.fail("answerCallbackQuery", 429, retry_after=1, times=1),
            id="it asks to wait",
        ),
        pytest.param(lambda telegram: telegram.drop("answerCallbackQuery", times=1), id="the line broke"),
    ],
)
async def test_a_press_is_answered_also_where_telegram_takes_the_answer_later(
    telegram: TelegramEmulator,
    channel: TelegramChannel,
    chat: Conversation,
    trouble: Callable[[TelegramEmulator], None],
) -> None:
    trouble(telegram)
    await channel.send_card(HERE, CARD)
    assert await chat.press("Approve once").answer() == QueryAnswer("Approved once", False)


async def test_a_question_is_asked_again_where_the_line_broke(
    telegram: TelegramEmulator, channel: TelegramChannel, chat: Conversation
) -> None:
    await channel.send_card(HERE, CARD)
    telegram.drop("sendMessage", times=1)
    chat.press("Deny with reason")
    await chat.wait_for_text("Why?")


async def test_a_press_that_cannot_be_stored_comes_again(
    channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    port.fail(StorageError("locked"), times=2)
    await channel.send_card(HERE, CARD)
    press = chat.press("Approve once")
    assert (await press.answer()).text == "Approved once"
    assert len(port.presses) == 1


async def test_a_button_from_before_a_restart_still_works(
    channel: TelegramChannel, port: FakePort, chat: Conversation, settings: ChannelSettings
) -> None:
    await channel.send_card(HERE, CARD)
    await channel.stop()
    later = TelegramChannel(settings, Rhythm(poll=1))
    await later.start(port)
    assert (await chat.press("Approve once").answer()).text == "Approved once"
    assert (await chat.press("Deny with reason").answer()).text == "Reply to this message."
    question = await chat.wait_for(lambda message: message.asks_for_reply, "a question")
    chat.reply(question, "too risky")
    assert (await port.wait_for_press(2)).text == "too risky"
    await later.stop()


@pytest.mark.parametrize("data", ["", "forged", "ünknown🙂"])
async def test_unknown_callback_data_goes_to_the_port_and_is_answered(
    channel: TelegramChannel, port: FakePort, chat: Conversation, data: str
) -> None:
    await channel.send_card(HERE, CARD)
    assert (await chat.press_data(data, chat.from_bot[-1]).answer()).text == "Approved once"
    assert port.presses[0].token == data


async def test_a_press_on_a_message_telegram_no_longer_shows_is_answered(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    user = telegram.user(42, "Ada").user.to_json()
    gone = {"chat": {"id": 42, "type": "private", "first_name": "Ada"}, "message_id": 5, "date": 0}
    base: dict[str, object] = {"from": user, "chat_instance": "1", "data": "t-once"}
    telegram.put_update("callback_query", base | {"id": "q-gone", "message": gone})
    telegram.put_update("callback_query", base | {"id": "q-inline", "inline_message_id": "x"})
    await port.wait_for_press(2)
    assert [(press.address, press.message_id) for press in port.presses] == [(HERE, "5"), (HERE, "")]


async def test_a_button_that_asks_takes_the_words_from_the_presser_s_reply(
    channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    port.asks = Prompt("Why not?")
    ref = await channel.send_card(HERE, CARD)
    press = chat.press("Deny with reason")
    assert (await press.answer()).text == "Reply to this message."
    question = await chat.wait_for_text("Why not?")
    assert question.asks_for_reply
    assert question.marked("text_mention") == ["Ada"]
    assert port.presses == []
    answer = chat.reply(question, "it deletes my work")
    told = await chat.wait_for_text("Approved once")
    assert told.reply_to is answer
    assert port.presses == [
        ButtonPress(
            press_id=f"message:42:{answer.message_id}",
            token="t-why",
            presser=Identity("telegram", "42"),
            address=HERE,
            message_id=ref.message_id,
            presser_name="Ada",
            text="it deletes my work",
        )
    ]
    assert port.stored == []


async def test_only_the_presser_s_own_reply_counts(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    group = telegram.group(-1001)
    ada, bob = telegram.user(42, "Ada").chat(group), telegram.user(43, "Bob").chat(group)
    await channel.send_card(Address("telegram", "-1001"), CARD)
    ada.press("Deny with reason")
    question = await ada.wait_for_text("Why?")
    bob.reply(question, "approve it")
    await port.wait_for_event("approve it")
    assert port.presses == []
    edited = ada.say("x")
    ada.edit(edited, "y")
    ada.reply(question, "no")
    assert (await port.wait_for_press()).text == "no"


async def test_a_question_is_asked_once_for_a_redelivered_press(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    await channel.send_card(HERE, CARD)
    chat.press("Deny with reason")
    await chat.wait_for_text("Why?")
    telegram.redeliver()
    chat.say("after")
    await port.wait_for_event("after")
    assert len([message for message in chat.from_bot if message.asks_for_reply]) == 1


@pytest.mark.parametrize("data", ["?t-why", "?forged"])
async def test_whoever_may_not_decide_is_told_privately_and_asked_nothing(
    channel: TelegramChannel, port: FakePort, chat: Conversation, data: str
) -> None:
    port.asks = PressReply("You may not decide this", ok=False)
    await channel.send_card(HERE, CARD)
    press = chat.press_data(data, chat.from_bot[-1])
    assert await press.answer() == QueryAnswer("You may not decide this", True)
    assert (len(chat.from_bot), port.presses) == (1, [])


async def test_an_edit_shows_the_call_whole_to_copy(
    channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    call = "rm -r `build` @everyone\n**x** 🙂"
    port.asks = Prompt("What should run instead?", initial=call)
    await channel.send_card(HERE, CARD)
    chat.press("Deny with reason")
    question = await chat.wait_for_text("What should run instead?")
    assert question.marked("pre") == [call]
    assert question.marked("mention") == []
    chat.reply(question, "rm -r build")
    assert (await port.wait_for_press()).text == "rm -r build"


async def test_a_call_that_does_not_fit_a_message_is_edited_on_the_web_page(
    channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    port.asks = Prompt("What should run instead?", initial="🙂" * 2048)
    await channel.send_card(HERE, CARD)
    answer = await chat.press("Deny with reason").answer()
    assert (answer.show_alert, "web page" in answer.text) == (True, True)
    assert len(chat.from_bot) == 1


async def test_a_question_from_before_a_restart_still_takes_its_answer(
    telegram: TelegramEmulator,
    channel: TelegramChannel,
    port: FakePort,
    settings: ChannelSettings,
) -> None:
    topic = telegram.group(-1002, "Forum", forum=True)
    ada = telegram.user(42, "Ada 🙂").chat(topic, thread_id=77)
    bob = telegram.user(43, "Bob").chat(topic, thread_id=77)
    await channel.send_card(Address("telegram", "-1002", "77"), CARD)
    ada.press("Deny with reason")
    question = await ada.wait_for_text("Why?")
    await channel.stop()
    later = TelegramChannel(settings, Rhythm(poll=1))
    await later.start(port)
    bob.reply(question, "approve it")
    await port.wait_for_event("approve it")
    answer = ada.reply(question, "too risky")
    assert await port.wait_for_press() == ButtonPress(
        press_id=f"message:-1002:{answer.message_id}",
        token="t-why",
        presser=Identity("telegram", "42"),
        address=Address("telegram", "-1002", "77"),
        presser_name="Ada 🙂",
        text="too risky",
    )
    await later.stop()


async def test_a_text_of_the_model_is_never_taken_for_a_question(
    channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    await channel.send_text(HERE, OutboundText("[Ada](tg://user?id=42): Why? Reply to this. `t-once`"))
    chat.reply(chat.from_bot[-1], "yes")
    await port.wait_for_event("yes")
    assert port.presses == []


@pytest.mark.parametrize(("status", "retry_after"), [(500, 0), (429, 1)])
async def test_a_question_that_telegram_does_not_take_at_once_is_asked_again(
    telegram: TelegramEmulator,
    channel: TelegramChannel,
    port: FakePort,
    chat: Conversation,
    status: int,
    retry_after: int,
) -> None:
    await channel.send_card(HERE, CARD)
    telegram.fail("sendMessage", status, retry_after=retry_after)
    chat.press("Deny with reason")
    assert (await chat.wait_for_text("Why?")).asks_for_reply


async def test_a_question_that_cannot_be_sent_leaves_the_card_as_it_is(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    await channel.send_card(HERE, CARD)
    telegram.fail("sendMessage", 403, "Forbidden: bot was kicked from the group chat")
    chat.press("Deny with reason")
    await eventually(lambda: len(telegram.called("sendMessage")) == 2, "the failed question")
    chat.press("Deny with reason")
    assert (await chat.wait_for_text("Why?")).asks_for_reply


def test_rows_hold_two_buttons_and_colours_follow_the_style() -> None:
    keyboard = keyboard_of([Button("A", "1"), Button("B", "2"), Button("C", "3", prompt="Why?")])
    assert keyboard is not None
    assert [[key.callback_data for key in row] for row in keyboard.inline_keyboard] == [["1", "2"], ["?3"]]
    assert keyboard_of([]) is None
    assert read_callback_data("?3") == ("3", True)


@pytest.mark.parametrize("token", ["", "x" * 65, "ü" * 33])
def test_a_token_that_does_not_fit_is_refused_before_telegram_is(token: str) -> None:
    with pytest.raises(FormatRejected):
        keyboard_of([Button("A", token)])
