"""A draft whose sending was never answered does not stay beside the final text."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from channels.slack.adapter import SlackChannel
from channels.slack.link import end
from echo_bot.errors import OutcomeUnknown
from echo_bot.events import Address, MessageRef, OutboundText
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.slack import Conversation, SlackEmulator
from echo_bot.testing.waiting import eventually

DM = Address("slack", "D1")
DRAFT = OutboundText("It is a *long* <story> & it goes on …", markdown=False, is_draft=True)


async def test_a_draft_whose_answer_was_lost_is_taken_away(
    slack: SlackEmulator, channel: SlackChannel, dm: Conversation
) -> None:
    slack.drop("chat.postMessage", after=True)
    with pytest.raises(OutcomeUnknown):
        await channel.send_text(DM, DRAFT)
    final = await channel.send_text(DM, OutboundText("The whole story."))
    await eventually(lambda: [one.ts for one in dm.from_bot] == [final.message_id], "the end of the draft")


async def test_a_draft_that_nobody_waits_for_any_more_is_taken_away_when_it_stands(
    slack: SlackEmulator, channel: SlackChannel, dm: Conversation
) -> None:
    held = slack.hold("chat.postMessage")
    sending = asyncio.create_task(channel.send_text(DM, DRAFT))
    await eventually(lambda: slack.called("chat.postMessage"), "the draft")
    sending.cancel()
    with suppress(asyncio.CancelledError):
        await sending
    held.set()
    await eventually(lambda: slack.called("chat.delete"), "the end of the draft")
    await eventually(lambda: dm.from_bot == [], "an empty chat")


async def test_the_final_text_stays_though_it_has_the_words_of_a_draft_that_never_stood(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    slack.drop("chat.postMessage")
    with pytest.raises(OutcomeUnknown):
        await channel.send_text(DM, OutboundText("Hello …", markdown=False, is_draft=True))
    final = await channel.send_text(DM, OutboundText("Hello"))
    dm.say("heard?")
    await port.wait_for_event("heard?")
    assert [one.ts for one in dm.from_bot] == [final.message_id]


async def test_what_was_sent_before_in_the_same_words_stays(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    thread = Address("slack", "D1", dm.say("go on").ts)
    kept: list[MessageRef] = [
        await channel.send_text(DM, DRAFT),
        await channel.send_text(DM, OutboundText(DRAFT.text, markdown=False)),
        await channel.send_text(thread, DRAFT),
    ]
    slack.drop("chat.postMessage")
    with pytest.raises(OutcomeUnknown):
        await channel.send_text(DM, DRAFT)
    dm.say("heard?")
    await port.wait_for_event("heard?")
    assert slack.called("chat.delete") == []
    standing = [one.ts for one in slack.messages if one.user == slack.world.bot.id]
    assert standing == [ref.message_id for ref in kept]


async def test_a_text_in_the_words_of_a_lost_draft_stays_though_slack_tells_of_it_before_it_answers(
    slack: SlackEmulator, channel: SlackChannel, port: FakePort, dm: Conversation
) -> None:
    slack.drop("chat.postMessage", times=2)
    for _ in range(2):
        with pytest.raises(OutcomeUnknown):
            await channel.send_text(DM, DRAFT)
    sent = [
        await channel.send_text(DM, DRAFT),
        await channel.send_text(DM, OutboundText(DRAFT.text, markdown=False)),
    ]
    dm.say("heard?")
    await port.wait_for_event("heard?")
    assert slack.called("chat.delete") == []
    assert [one.ts for one in dm.from_bot] == [ref.message_id for ref in sent]


async def test_a_cancellation_that_is_swallowed_holds_up_no_stop() -> None:
    async def stubborn() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)
        await asyncio.sleep(3600)

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    await asyncio.wait_for(end(task), 20)
    assert task.cancelled()
