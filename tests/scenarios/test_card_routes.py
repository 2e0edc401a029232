"""Routes, reminders and escalation: where a card goes, who is asked later, and that it survives a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from echo_bot.errors import TargetGone
from echo_bot.events import Address, Card, CardState, MessageRef
from echo_bot.testing.bot import running_bot
from echo_bot.testing.clock import MovedClock
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

REMINDER = "Still waiting for a decision"


def chats(channel: FakeChannel) -> set[str]:
    """Where cards stand."""
    return {m.ref.address.chat_id for m in channel.messages if m.card is not None}


async def test_dm_sends_the_card_to_the_approvers_even_when_one_is_in_the_chat(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    config = local | {
        "permissions.approval.route": "dm",
        "permissions.admin_users": ["telegram:1", "telegram:7"],
    }
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("/run echo hi", chat_id="100")
        await eventually(lambda: chats(bot.channel) == {"1", "7"}, "the direct chats")
        await bot.channel.wait_for(says("Waiting for approval"))
        assert (await bot.channel.press("Approve once", sender_id="7")).ok
        outcome = await bot.channel.wait_for(says("Approved once by telegram:7"))
        assert outcome.ref.address.chat_id == "100"
        await eventually(
            lambda: all(card.state is CardState.APPROVED for card in bot.channel.cards), "both copies closed"
        )


async def test_targets_get_the_card_by_alias_or_address_and_the_origin_a_notice(
    tmp_path: Path, local: Config, says: Says
) -> None:
    config = local | {
        "delivery.targets": {"ops": "telegram:500"},
        "permissions.approval.route": ["ops", "telegram:600:7"],
    }
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("/run echo hi")
        await eventually(lambda: chats(bot.channel) == {"500", "600"}, "both targets")
        assert {m.ref.address.thread_id for m in bot.channel.messages if m.card is not None} == {"", "7"}
        assert (await bot.channel.wait_for(says("Waiting for approval"))).ref.address.chat_id == "1"
        assert not (await bot.channel.press("Approve once", sender_id="666")).ok
        assert (await bot.channel.press("Approve once", sender_id="1")).ok
        await bot.channel.wait_for(says("hi\n"))


async def test_one_target_that_is_gone_does_not_keep_the_others_from_deciding(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    config = local | {"permissions.approval.route": ["slack:C1", "telegram:500"]}
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("/run echo hi")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(says("hi\n"))


async def test_when_every_route_failed_for_good_the_call_is_denied_at_once(
    tmp_path: Path, local: Config, says: Says
) -> None:
    config = local | {"permissions.approval.route": ["telegram:500", "telegram:600"]}
    async with running_bot(tmp_path, config) as bot:
        bot.channel.fail("send_card", TargetGone("no such chat"), times=2)
        await bot.channel.say("/run touch made")
        await bot.channel.wait_for(says("no approver could be reached"))
        assert not (bot.workspace / "made").exists()


class OneChatHangs(FakeChannel):
    async def send_card(self, address: Address, card: Card) -> MessageRef:
        if address.chat_id == "8":
            await asyncio.Event().wait()
        return await super().send_card(address, card)


async def test_nobody_waits_for_a_chat_that_hangs(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    config = local | {"permissions.approval.approvers": ["telegram:7", "telegram:8"]}
    async with running_bot(tmp_path, config, channel=OneChatHangs("telegram")) as bot:
        await bot.channel.say("/run echo hi", chat_id="100")
        await bot.channel.wait_for(is_open)
        assert (await bot.channel.press("Approve once", sender_id="7")).ok
        await bot.channel.wait_for(says("hi\n"))


class CrashesAfterSending(FakeChannel):
    """The card arrives, and nobody lives to hear where."""

    is_broken = True

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        ref = await super().send_card(address, card)
        if self.is_broken:
            await asyncio.Event().wait()
        return ref


async def test_after_a_crash_while_sending_the_second_card_says_so_and_both_close(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    channel = CrashesAfterSending("telegram")
    async with running_bot(tmp_path, local, channel=channel):
        await channel.say("/run echo hi")
        first = await channel.wait_for(is_open)
        token = next(b.token for b in first.buttons if b.label == "Deny")
    channel.is_broken = False
    async with running_bot(tmp_path, local, channel=channel):
        second = await channel.wait_for(lambda m: is_open(m) and "Possibly repeated" in m.body)
        await eventually(lambda: len(channel.cards) == 2, "two cards")
        assert (await channel.press("Approve once", message=second)).ok
        await channel.wait_for(says("hi\n"))
        late = await channel.press_token(token, first.ref)
        assert not late.ok
        await eventually(lambda: all(c.state is CardState.APPROVED for c in channel.cards), "both closed")


class NeverDelivers(FakeChannel):
    async def send_card(self, address: Address, card: Card) -> MessageRef:
        await asyncio.Event().wait()
        raise AssertionError


async def test_a_card_that_reaches_nobody_in_time_is_a_refusal(
    tmp_path: Path, local: Config, says: Says
) -> None:
    config = local | {"permissions.approval.card_delivery_timeout_seconds": 1}
    async with running_bot(tmp_path, config, channel=NeverDelivers("telegram")) as bot:
        await bot.channel.say("/run touch made")
        await bot.channel.wait_for(says("no approver could be reached"))


async def test_each_chat_with_the_card_is_reminded_once_as_a_reply_without_the_call(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    config = local | {
        "permissions.approval.remind_after_seconds": 1,
        "permissions.approval.approvers": ["telegram:7", "telegram:8"],
    }
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("/run echo @everyone")
        await eventually(lambda: chats(bot.channel) == {"7", "8"}, "both copies")
        cards = {m.ref.address.chat_id: m.ref.message_id for m in bot.channel.messages if m.card is not None}
        await eventually(lambda: sum(says(REMINDER)(m) for m in bot.channel.messages) == 2, "two reminders")
        reminders = [m for m in bot.channel.messages if says(REMINDER)(m)]
        for reminder in reminders:
            assert reminder.text is not None
            assert reminder.text.reply_to_id == cards[reminder.ref.address.chat_id]
            assert "everyone" not in reminder.body
            assert not reminder.text.markdown
        assert (await bot.channel.press("Approve once", sender_id="7")).ok
        await bot.channel.wait_for(says("everyone\n"))
        assert sum(says(REMINDER)(m) for m in bot.channel.messages) == 2


async def test_a_reminder_due_while_the_bot_was_down_comes_once_after_the_restart(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    config = local | {"permissions.approval.remind_after_seconds": 60}
    channel, clock = FakeChannel("telegram"), MovedClock()
    async with running_bot(tmp_path, config, channel=channel, clock=clock) as bot:
        await channel.say("/run echo hi")
        await channel.wait_for(is_open)
        await eventually(lambda: bot.parts.queues.total() == (1, 0), "the turn to wait")
        while (await bot.store.approvals.pending())[0].deadline is None:
            await asyncio.sleep(0.01)
    clock.move(seconds=90)
    for _ in range(2):
        async with running_bot(tmp_path, config, channel=channel, clock=clock):
            await channel.wait_for(says(REMINDER))
    assert sum(says(REMINDER)(m) for m in channel.messages) == 1


async def test_others_get_the_card_with_the_reminder_and_all_copies_close_together(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    config = local | {
        "delivery.targets": {"ops": "telegram:500"},
        "permissions.approval.remind_after_seconds": 1,
        "permissions.approval.escalate_to": ["ops", "here"],
        "permissions.admin_users": ["telegram:1", "telegram:7"],
    }
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("/run echo hi")
        await bot.channel.wait_for(is_open)
        assert chats(bot.channel) == {"1"}
        await eventually(lambda: chats(bot.channel) == {"1", "500"}, "the escalated copy")
        assert len(bot.channel.cards) == 2
        assert (await bot.channel.press("Approve once", sender_id="7")).ok
        await bot.channel.wait_for(says("hi\n"))
        await eventually(lambda: all(c.state is CardState.APPROVED for c in bot.channel.cards), "both closed")


async def test_without_a_reminder_others_are_asked_after_half_the_time_also_across_a_restart(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    config = local | {"permissions.approval.escalate_to": ["telegram:500"]}
    channel, clock = FakeChannel("telegram"), MovedClock()
    async with running_bot(tmp_path, config, channel=channel, clock=clock) as bot:
        await channel.say("/run echo hi")
        await channel.wait_for(is_open)
        while (await bot.store.approvals.pending())[0].deadline is None:
            await asyncio.sleep(0.01)
        [record] = await bot.store.approvals.pending()
        assert record.deadline is not None
        assert record.escalate_at == record.deadline - timedelta(seconds=60)
    clock.move(seconds=61)
    for _ in range(2):
        async with running_bot(tmp_path, config, channel=channel, clock=clock) as bot:
            await eventually(lambda: chats(channel) == {"1", "500"}, "the escalated copy")
            await eventually(lambda: bot.parts.queues.total() == (1, 0), "the turn to be revived")
            while (await bot.store.approvals.pending())[0].escalate_at is not None:
                await asyncio.sleep(0.01)
    assert len(channel.cards) == 2
    assert not [m for m in channel.messages if says(REMINDER)(m)]


class OpensDirectChats(FakeChannel):
    """Whoever is written to by id has a direct chat of another id, as on Discord and Slack."""

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        return await super().send_card(replace(address, chat_id=address.chat_id.replace("U", "D")), card)


@pytest.mark.parametrize("named", ["telegram:U7", "telegram:D7"], ids=["the person", "the direct chat"])
async def test_who_has_the_card_in_a_direct_chat_is_not_sent_it_again(
    tmp_path: Path, local: Config, named: str
) -> None:
    config = local | {
        "permissions.approval.route": ["telegram:U7"],
        "permissions.approval.remind_after_seconds": 1,
        "permissions.approval.escalate_to": [named, "telegram:500"],
    }
    channel = OpensDirectChats("telegram")
    async with running_bot(tmp_path, config, channel=channel) as bot:
        await channel.say("/run echo hi")
        await eventually(lambda: chats(channel) == {"D7"}, "the card")
        await eventually(lambda: chats(channel) == {"D7", "500"}, "the escalated copy")
        while (await bot.store.approvals.pending())[0].escalate_at is not None:
            await asyncio.sleep(0.01)
    assert len(channel.cards) == 2


class SlowEscalation(FakeChannel):
    """Chat 500 gets its card only when `let` is set."""

    def __init__(self) -> None:
        super().__init__("telegram")
        self.let = asyncio.Event()
        self.is_sending = False

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        if address.chat_id == "500":
            self.is_sending = True
            await self.let.wait()
        return await super().send_card(address, card)


async def test_a_decision_does_not_wait_for_an_escalation_and_its_late_copy_is_closed(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    channel = SlowEscalation()
    config = local | {
        "permissions.approval.remind_after_seconds": 1,
        "permissions.approval.escalate_to": ["telegram:500"],
    }
    async with running_bot(tmp_path, config, channel=channel):
        await channel.say("/run echo hi")
        await channel.wait_for(is_open)
        await eventually(lambda: channel.is_sending, "the escalation to be under way")
        await channel.press("Approve once")
        await channel.wait_for(says("hi\n"))
        channel.let.set()
        await eventually(lambda: chats(channel) == {"1", "500"}, "the late copy")
        await eventually(lambda: all(c.state is CardState.APPROVED for c in channel.cards), "all closed")
