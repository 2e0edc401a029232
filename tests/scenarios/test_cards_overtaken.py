"""A call that waited for a person needs none after a restart: its card closes, and decides nothing more."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from echo_bot.events import CardState
from echo_bot.storage.records import ApprovalStatus, Ruling
from echo_bot.storage.store import open_store
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]


def card_in(channel: FakeChannel, chat_id: str) -> FakeMessage:
    return next(m for m in channel.messages if m.card is not None and m.ref.address.chat_id == chat_id)


@pytest.mark.parametrize(
    ("after", "runs"),
    [({}, 2), ({"tools.exec.security": "deny"}, 1)],
    ids=["an approval that was remembered meanwhile covers it", "the configuration refuses it by now"],
)
async def test_the_card_of_a_call_that_is_decided_without_it_closes(
    tmp_path: Path, local: Config, after: Config, runs: int
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await channel.say("/run echo ran >> log", chat_id="1")
        await channel.say("/run echo ran >> log", chat_id="55")
        await eventually(lambda: len(channel.cards) == 2, "both cards")
        await eventually(lambda: bot.parts.queues.total() == (2, 0), "both turns to wait")
        assert (await channel.press("Always (exact call)", message=card_in(channel, "1"))).ok
        await eventually(lambda: bot.parts.queues.total() == (1, 0), "the first call's end")
    async with running_bot(tmp_path, local | after, channel=channel) as bot:
        await eventually(lambda: bot.parts.queues.total() == (0, 0), "the second call's end")
        await eventually(
            lambda: (card := card_in(channel, "55").card) and card.state is CardState.CLOSED, "its card's end"
        )
        assert await bot.store.approvals.pending() == ()
        assert (bot.workspace / "log").read_text().split() == ["ran"] * runs


async def test_a_call_that_was_denied_before_the_restart_stays_denied(
    tmp_path: Path, local: Config, says: Says
) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await channel.say("/run echo ran >> log")
        await eventually(lambda: channel.cards, "the card")
        await eventually(lambda: bot.parts.queues.total() == (1, 0), "its turn to wait")
    store = await open_store(f"sqlite+aiosqlite:///{tmp_path / 'state' / 'echo-bot.db'}")
    [asked] = await store.approvals.pending()
    await store.approvals.decide(
        asked.approval_id, Ruling(ApprovalStatus.DENIED, "cli:local", "deny", datetime.now(UTC), "not this")
    )
    await store.close()
    async with running_bot(tmp_path, local | {"permissions.approval.mode": "off"}, channel=channel) as bot:
        await channel.wait_for(says("cli:local denied it. Reason: not this"))
        assert not (bot.workspace / "log").exists()
