"""An answer that its chat does not take: whoever asked is told where they read it, once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from echo_bot.errors import TargetGone
from echo_bot.events import Address, MessageRef, OutboundText
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import OutboxRow
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.scripted_model import Say, ScriptedModel
from echo_bot.testing.waiting import PATIENCE_SECONDS, POLL_SECONDS

Config = dict[str, object]
Says = Callable[[str], Callable[[FakeMessage], bool]]

TOLD = "could not be delivered in the chat where you asked: may not write here. Ask again"


class Closed(FakeChannel):
    """Takes no text in the chats of `closed`."""

    closed: frozenset[str] = frozenset()

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef:
        if address.chat_id in self.closed:
            raise TargetGone("may not write here.")
        return await super().send_text(address, message)


@pytest.fixture
def channel() -> Closed:
    made = Closed("telegram")
    made.direct_chats["1"] = "dm-of-1"
    return made


async def test_whoever_asked_in_a_group_is_told_in_their_direct_chat_once(
    tmp_path: Path, local: Config, channel: Closed, says: Says
) -> None:
    script = ScriptedModel([Say("The plan. " * 2000), Say("fine")])
    channel.closed = frozenset({"-5"})
    async with running_bot(tmp_path, local, channel=channel, model=script.model) as bot:
        await channel.say(
            "what is the plan for " + "tomorrow " * 20, chat_id="-5", is_group=True, mentioned=True
        )
        told = await channel.wait_for(says(TOLD))
        assert told.ref.address.chat_id == "dm-of-1"
        assert told.body.startswith("The answer to “what is the plan for tomorrow tomorrow")
        assert told.body.count("tomorrow") < 10
        assert len(await eventually_dead(bot.store, 2)) > 1
        await channel.say("hello", chat_id="dm-of-1")
        await channel.wait_for(says("fine"))
        assert sum(TOLD in message.body for message in channel.messages) == 1


@pytest.mark.parametrize(("chat_id", "is_group"), [("dm-of-1", False), ("1", True)])
async def test_nobody_is_told_where_there_is_no_other_chat(
    tmp_path: Path, local: Config, channel: Closed, says: Says, chat_id: str, is_group: bool
) -> None:
    channel.closed = frozenset({chat_id})
    script = ScriptedModel([Say("lost"), Say("found")])
    async with running_bot(tmp_path, local, channel=channel, model=script.model) as bot:
        await channel.say("one", chat_id=chat_id, is_group=is_group, mentioned=True)
        await eventually_dead(bot.store, 1)
        channel.closed = frozenset()
        await channel.say("two", chat_id=chat_id, is_group=is_group, mentioned=True)
        await channel.wait_for(says("found"))
        assert channel.texts == ["found"]


async def test_what_cannot_be_told_either_goes_no_further(
    tmp_path: Path, local: Config, channel: Closed, says: Says
) -> None:
    channel.closed = frozenset({"-5", "1"})
    script = ScriptedModel([Say("lost"), Say("found")])
    async with running_bot(tmp_path, local, channel=channel, model=script.model) as bot:
        await channel.say("one", chat_id="-5", is_group=True, mentioned=True)
        dead = await eventually_dead(bot.store, 2)
        assert [row.source.rpartition(":")[2] for row in dead] == ["reply", "undelivered"]
        await channel.say("two", chat_id="-6", is_group=True, mentioned=True)
        await channel.wait_for(says("found"))
        assert len(await bot.store.outbox.list("dead", 10)) == 2


async def eventually_dead(store: Store, least: int) -> tuple[OutboxRow, ...]:
    """The dead letters, once there are so many."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(rows := await store.outbox.list("dead", 10)) < least:
            await asyncio.sleep(POLL_SECONDS)
    return rows
