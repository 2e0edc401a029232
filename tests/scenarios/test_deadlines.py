"""Time and cards: restarts, the very moment of expiry, copies on their way, cards whose turn is over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echo_bot.approval import broker
from echo_bot.events import Address, ApprovalId, Card, CardState, MessageRef
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus, Ruling, TurnState
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]


def later(**by: float) -> Callable[[], datetime]:
    """A clock that runs ahead."""
    return lambda: datetime.now(UTC) + timedelta(**by)


async def pending(store: Store) -> ApprovalRecord:
    [record] = await store.approvals.pending()
    return record


async def running_deadline(store: Store) -> datetime:
    """When the open card expires, once its clock runs."""
    while (deadline := (await pending(store)).deadline) is None:
        await asyncio.sleep(0.01)
    return deadline


async def test_a_press_kept_by_the_platform_counts_after_a_short_outage(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await channel.say("/run touch made")
        await channel.wait_for(is_open)
        await running_deadline(bot.store)
    async with running_bot(tmp_path, local, channel=channel, clock=later(minutes=5)) as bot:
        await eventually(lambda: channel.health().state == "connected", "the channel")
        assert (await channel.press("Approve once")).ok
        await channel.wait_for(says("no output"))
        assert (bot.workspace / "made").exists()


async def test_a_card_that_expired_long_before_the_restart_is_closed_and_runs_nothing(
    tmp_path: Path, local: Config, is_open: Is, is_closed: Is, says: Says
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await channel.say("/run touch made")
        card = await channel.wait_for(is_open)
        token = card.buttons[0].token
        await running_deadline(bot.store)
    async with running_bot(tmp_path, local, channel=channel, clock=later(hours=3)) as bot:
        await channel.wait_for(says("nobody consented"))
        closed = await channel.wait_for(is_closed)
        assert closed.card is not None
        assert closed.card.state is CardState.EXPIRED
        assert not (await channel.press_token(token, card.ref)).ok
        assert not (bot.workspace / "made").exists()


async def test_a_press_at_the_moment_of_expiry_either_runs_the_call_or_is_refused(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    config = local | {"permissions.approval.wait_timeout_seconds": 1}
    async with running_bot(tmp_path, config) as bot:
        for number, early in enumerate((-0.01, -0.003, 0.0, 0.003)):
            await bot.channel.say(f"/run touch made{number}")
            card = await bot.channel.wait_for(is_open)
            token = next(button.token for button in card.buttons if button.label == "Approve once")
            while (known := await bot.store.approvals.by_token(token)) is None or known[0].deadline is None:
                await asyncio.sleep(0.01)
            await asyncio.sleep((known[0].deadline - datetime.now(UTC)).total_seconds() + early)
            reply = await bot.channel.press_token(token, card.ref)
            await eventually(lambda: bot.parts.queues.total() == (0, 0), "the turn to end")
            assert (bot.workspace / f"made{number}").exists() == reply.ok


class SlowSecondCard(FakeChannel):
    """Chat 8 gets its card only when `let` is set."""

    def __init__(self) -> None:
        super().__init__("telegram")
        self.let = asyncio.Event()

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        if address.chat_id == "8":
            await self.let.wait()
        return await super().send_card(address, card)


async def test_a_decision_on_the_first_copy_counts_while_the_second_is_on_its_way(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    channel = SlowSecondCard()
    config = local | {"permissions.approval.approvers": ["telegram:7", "telegram:8"]}
    async with running_bot(tmp_path, config, channel=channel):
        await channel.say("/run echo hi", chat_id="100")
        await channel.wait_for(is_open)
        assert (await channel.press("Approve once", sender_id="7")).ok
        channel.let.set()
        await channel.wait_for(says("hi\n"))
        await eventually(lambda: len(channel.cards) == 2, "the second copy")
        await eventually(lambda: all(c.state is CardState.APPROVED for c in channel.cards), "both closed")


async def test_stop_while_a_card_is_open_makes_its_buttons_say_cancelled(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run touch made")
        card = await bot.channel.wait_for(is_open)
        token = card.buttons[0].token
        await bot.channel.say("/stop")
        await bot.channel.wait_for(says("Stopped 1"))
        reply = await bot.channel.press_token(token, card.ref)
        assert (reply.ok, "cancelled" in reply.text) == (False, True)
        assert not (bot.workspace / "made").exists()


async def test_a_stopped_turn_is_not_revived_and_its_open_card_is_closed_at_the_next_start(
    tmp_path: Path, local: Config, is_open: Is, is_closed: Is
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await channel.say("/run touch made")
        card = await channel.wait_for(is_open)
        record, token = await pending(bot.store), card.buttons[0].token
        # As a crash right after /stop marked the turn.
        await bot.store.turns.set_state(record.turn_id, TurnState.STOPPED)
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await channel.wait_for(is_closed)
        assert not (await channel.press_token(token, card.ref)).ok
        assert not await bot.store.approvals.pending()
        assert not (bot.workspace / "made").exists()


async def test_turns_that_wait_when_the_bot_stops_stay_revivable(
    tmp_path: Path, local: Config, is_open: Is
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await channel.say("/run touch made")
        await channel.wait_for(is_open)
        [turn] = await bot.store.turns.unfinished()
        assert turn.state is TurnState.WAITING
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await eventually(lambda: bot.parts.queues.total()[0] == 1, "the revived turn")
        assert is_open(channel.messages[-1])


async def test_a_transcript_shows_a_decided_card_closed_even_if_its_edit_was_lost(
    tmp_path: Path, local: Config, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run touch made")
        await bot.channel.wait_for(is_open)
        record = await pending(bot.store)
        ruling = Ruling(ApprovalStatus.DENIED, "telegram:1", "deny", datetime.now(UTC))
        assert await bot.store.approvals.decide(record.approval_id, ruling)
        entries = await bot.parts.inbox.transcript(Address("telegram", "1"), 10)
        [card] = [entry.card for entry in entries if entry.card is not None]
        assert (card.state, card.buttons) == (CardState.DENIED, ())


async def test_a_short_id_that_fits_two_open_approvals_decides_neither(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run touch made")
        await bot.channel.wait_for(is_open)
        record = await pending(bot.store)
        twin = ApprovalId("other" + record.approval_id[-6:])
        tokens = tuple(f"t{index}" for index in range(len(record.offered)))
        await bot.store.approvals.attach(replace(record, approval_id=twin, tokens=tokens, copies=()))
        await bot.channel.say(f"/approve {record.approval_id[-6:]}")
        await bot.channel.wait_for(says("2 open approvals end in"))
        await bot.channel.say(f"/approve {record.approval_id}")
        await bot.channel.wait_for(says("no output"))
        assert (bot.workspace / "made").exists()


async def test_a_decision_of_another_process_wakes_the_turn_and_closes_the_card(
    tmp_path: Path, local: Config, is_open: Is, is_closed: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo hi")
        await bot.channel.wait_for(is_open)
        record = await pending(bot.store)
        ruling = Ruling(ApprovalStatus.APPROVED, "cli:local", "once", datetime.now(UTC))
        assert await bot.store.approvals.decide(record.approval_id, ruling)
        await bot.parts.broker.catch_up()
        await bot.channel.wait_for(says("hi\n"))
        closed = await bot.channel.wait_for(is_closed)
        assert "cli:local" in closed.body


async def test_a_decision_that_the_waiting_call_reads_itself_closes_the_card_too(
    tmp_path: Path, local: Config, is_open: Is, is_closed: Is, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker, "_MAX_WAIT_STEP_SECONDS", 0.05)
    async with running_bot(tmp_path, local) as bot:
        waits, chase = asyncio.Event(), bot.parts.broker._chaser.chase

        async def noted(record: ApprovalRecord) -> float:
            waits.set()
            return await chase(record)

        monkeypatch.setattr(bot.parts.broker._chaser, "chase", noted)
        await bot.channel.say("/run echo hi")
        await bot.channel.wait_for(is_open)
        await waits.wait()
        record = await pending(bot.store)
        ruling = Ruling(ApprovalStatus.APPROVED, "cli:local", "once", datetime.now(UTC))
        assert await bot.store.approvals.decide(record.approval_id, ruling)
        closed = await bot.channel.wait_for(is_closed)
        assert "cli:local" in closed.body


async def test_asking_again_is_for_the_requester_or_an_approver(
    tmp_path: Path, local: Config, is_closed: Is
) -> None:
    config = local | {"permissions.approval.wait_timeout_seconds": 1}
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("/run touch made")
        closed = await bot.channel.wait_for(is_closed)
        [token] = [button.token for button in closed.buttons if button.label == "Ask again"]
        assert not (await bot.channel.press_token(token, closed.ref, sender_id="666")).ok
        assert (await bot.channel.press_token(token, closed.ref)).ok
        assert not (await bot.channel.press_token(token, closed.ref)).ok


async def test_the_open_card_says_until_when_it_can_be_answered(
    tmp_path: Path, local: Config, is_open: Is
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run touch made")
        card = await bot.channel.wait_for(is_open)
        assert "Answer by" in card.body
