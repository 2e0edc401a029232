"""A platform that is down when a card closes: its copy closes once it is back, also after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echo_bot.approval import broker, late_ends
from echo_bot.delivery import cards
from echo_bot.errors import ChannelError, ChannelFatal, TargetGone, TemporaryFailure
from echo_bot.events import Card, CardState, MessageRef
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]


class Frail(FakeChannel):
    """Cards in chat 500 cannot be changed while there is a `trouble`."""

    def __init__(self) -> None:
        super().__init__("telegram")
        self.trouble: ChannelError | None = None
        self.refused = 0

    async def edit_card(self, ref: MessageRef, card: Card) -> None:
        if self.trouble is not None and ref.address.chat_id == "500":
            self.refused += 1
            raise self.trouble
        await super().edit_card(ref, card)

    def card_in(self, chat_id: str) -> Card:
        [found] = [m.card for m in self.messages if m.card and m.ref.address.chat_id == chat_id]
        return found


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "_TRIES", 1)
    monkeypatch.setattr(late_ends, "_LOOK_SECONDS", 0.02)


@pytest.fixture
def two_chats(local: Config) -> Config:
    return local | {"permissions.approval.route": ["telegram:500", "telegram:600"]}


async def decide_elsewhere(channel: Frail, says: Says) -> None:
    await channel.say("/run echo hi")
    await eventually(lambda: len(channel.cards) == 2, "both copies")
    [there] = [m for m in channel.messages if m.card and m.ref.address.chat_id == "600"]
    assert (await channel.press("Approve once", message=there)).ok
    await channel.wait_for(says("hi\n"))
    await eventually(lambda: channel.refused, "a try to close the other copy")


@pytest.mark.parametrize("trouble", [TemporaryFailure("down"), ChannelFatal("refused", "Renew the token.")])
async def test_a_copy_that_could_not_be_closed_is_closed_once_its_platform_is_back(
    tmp_path: Path, two_chats: Config, says: Says, trouble: ChannelError
) -> None:
    channel = Frail()
    channel.trouble = trouble
    async with running_bot(tmp_path, two_chats, channel=channel):
        await decide_elsewhere(channel, says)
        assert channel.card_in("500").state is CardState.OPEN
        channel.trouble = None
        await eventually(lambda: channel.card_in("500").state is CardState.APPROVED, "the late end")


async def test_it_is_closed_by_the_next_run_also_when_its_turn_is_long_over(
    tmp_path: Path, two_chats: Config, says: Says
) -> None:
    channel = Frail()
    channel.trouble = TemporaryFailure("down")
    async with running_bot(tmp_path, two_chats, channel=channel):
        await decide_elsewhere(channel, says)
    channel.trouble = None
    async with running_bot(tmp_path, two_chats, channel=channel):
        await eventually(lambda: channel.card_in("500").state is CardState.APPROVED, "the late end")


async def test_a_copy_that_can_never_be_changed_is_told_once_and_let_be(
    tmp_path: Path, two_chats: Config, says: Says
) -> None:
    channel = Frail()
    channel.trouble = TargetGone("deleted")
    for _ in range(2):
        async with running_bot(tmp_path, two_chats, channel=channel) as bot:
            if not channel.cards:
                await decide_elsewhere(channel, says)
            await channel.wait_for(lambda m: m.ref.address.chat_id == "500" and says("Approved once")(m))
            while await bot.store.approvals.unended(datetime.fromtimestamp(0, UTC)):
                await asyncio.sleep(0.01)
    assert channel.refused == 1


async def test_a_copy_that_could_not_be_reached_is_closed_when_somebody_presses_it(
    tmp_path: Path, two_chats: Config, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker, "_END_IS_SHOWN_WITHIN", timedelta())
    channel = Frail()
    channel.trouble = TargetGone("kicked")
    async with running_bot(tmp_path, two_chats, channel=channel):
        await decide_elsewhere(channel, says)
        await channel.wait_for(lambda m: m.ref.address.chat_id == "500" and says("Approved once")(m))
        [left] = [m for m in channel.messages if m.card and m.ref.address.chat_id == "500"]
        for trouble in (channel.trouble, None):
            channel.trouble, said = trouble, len(channel.messages)
            assert not (await channel.press("Approve once", message=left)).ok
            await eventually(lambda: channel.refused > 1, "a try to close it")
        await eventually(lambda: channel.card_in("500").state is CardState.APPROVED, "the late end")
        assert len(channel.messages) == said


class Hanging(Frail):
    """Chat 500 does not even answer, for the first card."""

    async def edit_card(self, ref: MessageRef, card: Card) -> None:
        if self.trouble is None and ref.address.chat_id == "500" and "echo first" in repr(card):
            self.refused += 1
            await asyncio.Event().wait()
        await super().edit_card(ref, card)


async def test_a_card_whose_platform_hangs_keeps_no_other_waiting(
    tmp_path: Path, two_chats: Config, says: Says
) -> None:
    channel = Hanging()
    channel.trouble = TemporaryFailure("down")
    async with running_bot(tmp_path, two_chats, channel=channel):
        for word in ("first", "second"):
            await channel.say(f"/run echo {word}")
            there = await channel.wait_for(is_in("600", f"echo {word}"))
            await channel.wait_for(is_in("500", f"echo {word}"))
            assert (await channel.press("Approve once", message=there)).ok
            await channel.wait_for(says(f"{word}\n"))
    channel.trouble, channel.refused = None, 0
    async with running_bot(tmp_path, two_chats, channel=channel):
        await eventually(lambda: channel.refused, "the first to hang")
        later = await channel.wait_for(is_in("500", "echo second"))
        await eventually(lambda: later.card and later.card.state is CardState.APPROVED, "the second's end")


def is_in(chat_id: str, words: str) -> Is:
    return lambda m: m.card is not None and m.ref.address.chat_id == chat_id and words in m.body
