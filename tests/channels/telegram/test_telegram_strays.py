"""A draft whose answer was lost does not stay beside the text that it was a draft of."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from channels.telegram.adapter import TelegramChannel
from channels.telegram.client import open_bot
from channels.telegram.strays import Strays
from echo_bot.channel import ChannelSettings, Prompt
from echo_bot.channel.errands import Errands
from echo_bot.errors import OutcomeUnknown
from echo_bot.events import Address, Button, Card, OutboundText
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.telegram import Conversation, TelegramEmulator
from echo_bot.testing.waiting import eventually

HERE = Address("telegram", "42")
DRAFT = OutboundText("Half of the …", is_draft=True)
WHOLE = OutboundText("Half of the answer and the rest.")


async def lose_a_draft(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    chat.say("tell me")
    await port.wait_for_event("tell me")
    telegram.drop("sendMessage", after=True, times=1)
    with pytest.raises(OutcomeUnknown):
        await channel.send_text(HERE, DRAFT)


@pytest.mark.parametrize("trouble", ["", "editMessageText", "deleteMessage"])
async def test_a_draft_that_stands_although_its_answer_was_lost_is_taken_away(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation, trouble: str
) -> None:
    await lose_a_draft(telegram, channel, port, chat)
    if trouble:
        telegram.drop(trouble, after=trouble == "editMessageText", times=1)
    assert [message.text for message in chat.from_bot] == [DRAFT.text]
    await channel.send_text(HERE, WHOLE)
    await eventually(lambda: [m.text for m in chat.from_bot] == [WHOLE.text] or None, "the stray to be gone")


async def test_nobody_elses_message_is_deleted(
    telegram: TelegramEmulator, settings: ChannelSettings, chat: Conversation
) -> None:
    bot, errands = open_bot(settings), Errands()
    async with bot:
        strays = Strays(bot, "", errands)
        strays.heard(42, chat.say("tell me").message_id)
        strays.lost(42)
        theirs = chat.say("not heard yet")
        strays.sent(42, theirs.message_id + 1)
        await errands.close(5)
    assert telegram.called("editMessageText")
    assert not telegram.called("deleteMessage")


async def test_what_is_being_sent_meanwhile_is_no_stray(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    await lose_a_draft(telegram, channel, port, chat)
    telegram.slow("sendMessage", 0.2)
    sends = [asyncio.create_task(channel.send_text(HERE, OutboundText(f"text {n}"))) for n in range(3)]
    await asyncio.wait(sends)
    with suppress(AssertionError):
        await eventually(lambda: telegram.called("deleteMessage") or None, "a deletion", timeout=0.5)
    assert {f"text {n}" for n in range(3)} <= {message.text for message in chat.from_bot}


async def test_a_draft_that_nobody_waits_for_any_more_is_taken_away_when_it_stands(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    chat.say("tell me")
    await port.wait_for_event("tell me")
    held = telegram.hold("sendMessage")
    sending = asyncio.create_task(channel.send_text(HERE, DRAFT))
    await eventually(lambda: telegram.called("sendMessage"), "the draft")
    sending.cancel()
    with suppress(asyncio.CancelledError):
        await sending
    held.set()
    await chat.wait_for_text(DRAFT.text)
    await channel.send_text(HERE, WHOLE)
    await eventually(lambda: [m.text for m in chat.from_bot] == [WHOLE.text] or None, "the stray to be gone")


async def test_a_message_whose_answer_comes_late_says_nothing_of_a_draft_lost_after_it(
    telegram: TelegramEmulator, settings: ChannelSettings, chat: Conversation
) -> None:
    bot, errands = open_bot(settings), Errands()
    async with bot:
        strays = Strays(bot, "", errands)
        question = await bot.send_message(42, "Why not?")
        strays.heard(42, chat.say("tell me").message_id)
        await bot.send_message(42, DRAFT.text)
        strays.lost(42)
        strays.sent(42, question.message_id)
        strays.sent(42, (await bot.send_message(42, WHOLE.text)).message_id)
        await errands.close(20)
    assert [message.text for message in chat.from_bot] == ["Why not?", WHOLE.text]


async def test_a_draft_goes_also_where_something_else_is_under_way_beside_the_text_that_follows_it(
    telegram: TelegramEmulator, settings: ChannelSettings, chat: Conversation
) -> None:
    bot, errands = open_bot(settings), Errands()
    async with bot:
        strays = Strays(bot, "", errands)
        strays.heard(42, chat.say("tell me").message_id)
        await bot.send_message(42, DRAFT.text)
        strays.lost(42)
        with strays.sending(42):
            outcome = await bot.send_message(42, "Approved once")
            strays.sent(42, (await bot.send_message(42, WHOLE.text)).message_id)
        strays.sent(42, outcome.message_id)
        await errands.close(20)
    assert [message.text for message in chat.from_bot] == ["Approved once", WHOLE.text]


async def test_what_is_said_of_a_press_is_no_stray(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    port.asks = Prompt("Why not?")
    await channel.send_card(HERE, Card("c1", "exec", (), (Button("Deny", "t", prompt="Why not?"),)))
    await chat.press("Deny").answer()
    question = await chat.wait_for_text("Why not?")
    await lose_a_draft(telegram, channel, port, chat)
    chat.reply(question, "it deletes my work")
    await chat.wait_for_text("Approved once")
    await channel.send_text(HERE, WHOLE)
    await eventually(
        lambda: DRAFT.text not in {m.text for m in chat.from_bot} or None, "the stray to be gone"
    )
    assert {"Approved once", WHOLE.text} <= {m.text for m in chat.from_bot}
