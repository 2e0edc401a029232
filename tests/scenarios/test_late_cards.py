"""A platform that is down when a card opens: its copy comes once it is back, as long as somebody is asked."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from time import monotonic

import pytest

from echo_bot.approval import copies
from echo_bot.delivery import cards
from echo_bot.errors import ChannelError, OutcomeUnknown, RetryAfter, TemporaryFailure
from echo_bot.events import Address, Card, CardState, MessageRef
from echo_bot.testing.bot import running_bot
from echo_bot.testing.clock import let_pass
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Says = Callable[[str], Callable[[FakeMessage], bool]]

ASKS_500_LATER = {
    "permissions.approval.route": ["telegram:600"],
    "permissions.approval.remind_after_seconds": 1,
    "permissions.approval.escalate_to": ["telegram:500"],
}
FIRST_CARD_SECONDS = 30
FIRST_CARD = {"permissions.approval.card_delivery_timeout_seconds": FIRST_CARD_SECONDS}
DOWN = [TemporaryFailure("down"), RetryAfter(0.01), OutcomeUnknown("no answer")]


class Down(FakeChannel):
    """Chat 500 gets no card while there is a `trouble`."""

    def __init__(self, trouble: ChannelError) -> None:
        super().__init__("telegram")
        self.trouble: ChannelError | None = trouble
        self.refused_at: list[float] = []

    @property
    def refused(self) -> int:
        return len(self.refused_at)

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        if self.trouble is not None and address.chat_id == "500":
            self.refused_at.append(monotonic())
            raise self.trouble
        return await super().send_card(address, card)


async def approve_late(channel: FakeChannel, says: Says) -> None:
    """On the card of chat 500, once it has come; every card shows it."""
    late = await channel.wait_for(lambda m: m.card is not None and m.ref.address.chat_id == "500")
    assert (await channel.press("Approve once", message=late)).ok
    await channel.wait_for(says("hi\n"))
    await eventually(lambda: {card.state for card in channel.cards} == {CardState.APPROVED}, "the ends")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "_TRIES", 1)
    monkeypatch.setattr(cards, "_DOUBT_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(copies, "_SEND_AGAIN_SECONDS", 0.02)


@pytest.mark.parametrize("trouble", DOWN, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("others", [(), ("telegram:600",)], ids=["the only one", "one of two"])
async def test_a_chat_gets_its_card_once_its_platform_is_back(
    tmp_path: Path, local: Config, says: Says, trouble: ChannelError, others: tuple[str, ...]
) -> None:
    channel = Down(trouble)
    route = {"permissions.approval.route": ["telegram:500", *others]}
    async with running_bot(tmp_path, local | route, channel=channel):
        await channel.say("/run echo hi")
        await eventually(lambda: channel.refused > 3 and len(channel.cards) == len(others), "the refusals")
        channel.trouble = None
        await approve_late(channel, says)


async def test_a_chat_is_left_alone_for_as_long_as_its_platform_asks(tmp_path: Path, local: Config) -> None:
    channel = Down(RetryAfter(0.3))
    route = {"permissions.approval.route": ["telegram:500"]}
    async with running_bot(tmp_path, local | route, channel=channel):
        await channel.say("/run echo hi")
        await eventually(lambda: channel.refused == 3, "the refusals")
    assert min(later - earlier for earlier, later in pairwise(channel.refused_at)) >= 0.3


async def test_after_a_restart_a_chat_that_had_no_card_yet_gets_it_and_no_other(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = Down(TemporaryFailure("down"))
    channel.direct_chats["U7"] = "D7"
    config = local | {"permissions.approval.route": ["telegram:U7", "telegram:500"]}
    async with running_bot(tmp_path, config, channel=channel) as bot:
        await channel.say("/run echo hi")
        await eventually(lambda: channel.refused > 1 and channel.cards, "the refusals")
        await eventually(lambda: bot.parts.broker._open, "the question")
    channel.trouble = None
    async with running_bot(tmp_path, config, channel=channel):
        await approve_late(channel, says)
    assert len(channel.cards) == 2


async def test_a_chat_that_was_down_is_sent_one_card_though_it_is_asked_twice(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = Down(TemporaryFailure("down"))
    config = local | {
        "permissions.approval.route": ["telegram:600", "telegram:500"],
        "permissions.approval.remind_after_seconds": 1,
        "permissions.approval.escalate_to": ["telegram:500", "telegram:700"],
    }
    async with running_bot(tmp_path, config, channel=channel):
        await channel.say("/run echo hi")
        await channel.wait_for(lambda m: m.card is not None and m.ref.address.chat_id == "700")
        seen = channel.refused
        await eventually(lambda: channel.refused > seen + 3, "more tries")
        channel.trouble = None
        await approve_late(channel, says)
    assert len(channel.cards) == 3


async def test_who_is_asked_later_gets_the_card_however_long_the_platform_is_down(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = Down(TemporaryFailure("down"))
    async with running_bot(tmp_path, local | ASKS_500_LATER | FIRST_CARD, channel=channel):
        await channel.say("/run echo hi")
        await eventually(lambda: channel.refused > 3, "the refusals")
        let_pass(FIRST_CARD_SECONDS + 1)
        seen = channel.refused
        await eventually(lambda: channel.refused > seen + 3, "tries for longer than the first card may take")
        channel.trouble = None
        await approve_late(channel, says)
    assert len(channel.cards) == 2


async def test_who_is_asked_later_gets_one_card_after_a_restart(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = Down(OutcomeUnknown("no answer"))
    config = local | ASKS_500_LATER
    async with running_bot(tmp_path, config, channel=channel):
        await channel.say("/run echo hi")
        await eventually(lambda: channel.refused > 3, "the refusals")
    channel.trouble = None
    async with running_bot(tmp_path, config, channel=channel):
        await approve_late(channel, says)
    assert len(channel.cards) == 2


async def test_nothing_is_sent_late_that_was_decided_meanwhile(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = Down(TemporaryFailure("down"))
    route = {"permissions.approval.route": ["telegram:500", "telegram:600"]}
    async with running_bot(tmp_path, local | route, channel=channel) as bot:
        await channel.say("/run echo hi")
        await eventually(lambda: channel.refused > 3 and channel.cards, "the refusals")
        await channel.press("Approve once")
        await channel.wait_for(says("hi\n"))
        await eventually(lambda: not bot.parts.broker._copies._late, "the end of the tries")
        channel.trouble = None
        assert len(channel.cards) == 1


async def test_a_call_is_denied_when_its_only_platform_stays_down(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = Down(TemporaryFailure("down"))
    config = local | {"permissions.approval.route": ["telegram:500"]} | FIRST_CARD
    async with running_bot(tmp_path, config, channel=channel):
        await channel.say("/run echo hi")
        await eventually(lambda: channel.refused > 3, "the refusals")
        assert channel.messages == []
        let_pass(FIRST_CARD_SECONDS)
        await channel.wait_for(says("no approver could be reached"))
