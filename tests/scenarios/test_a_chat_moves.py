"""A chat gets a new id: open cards, queues, history, unsent messages and targets go over, once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from echo_bot.errors import TargetGone, TemporaryFailure
from echo_bot.events import Address, ApprovalId, Card, MessageRef
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

OLD, NEW = "-100", "-200"


async def test_an_open_card_is_decided_and_answered_in_the_new_chat(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo moved", is_group=True, chat_id=OLD)
        card = await bot.channel.wait_for(is_open)
        await bot.channel.say("/run echo second", is_group=True, chat_id=OLD)
        await bot.channel.move_chat(OLD, NEW)
        assert card.card is not None
        record = await bot.store.approvals.get(ApprovalId(card.card.card_id))
        assert record is not None
        assert {record.address.chat_id, *(ref.address.chat_id for ref in record.copies)} == {NEW}
        assert record.session_key == "telegram:-200:1"
        await bot.channel.say(f"/approve {card.card.short_id}", is_group=True, chat_id=NEW)
        reply = await bot.channel.wait_for(says("moved\n"))
        assert reply.ref.address.chat_id == NEW
        second = await bot.channel.wait_for(lambda message: is_open(message) and "second" in message.body)
        assert second.ref.address.chat_id == NEW


class Moving(FakeChannel):
    """The chat moves at the first change of a card, whose message is not there under the new id."""

    async def edit_card(self, ref: MessageRef, card: Card) -> None:
        await self.move_chat(OLD, NEW)
        raise TargetGone("message to edit not found")


async def test_a_card_whose_chat_moves_as_it_ends_says_its_end_once(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    channel = Moving("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await channel.say("/run echo moved", is_group=True, chat_id=OLD)
        card = await channel.wait_for(is_open)
        assert card.card is not None
        await channel.press("Approve once", message=card)
        await channel.wait_for(says("moved\n"))
        await channel.wait_for(says("Approved once"))

        async def ended() -> bool:
            record = await bot.store.approvals.get(ApprovalId(card.card.card_id if card.card else ""))
            return record is not None and [ref.address.chat_id for ref in record.ended] == [NEW]

        while not await ended():
            await asyncio.sleep(0.01)
        assert await bot.store.approvals.unended(datetime.now(UTC) - timedelta(days=1)) == ()
    assert len([message for message in channel.messages if says("Approved once")(message)]) == 1


async def test_the_order_of_a_session_is_kept_over_the_move(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo first", is_group=True, chat_id=OLD)
        card = await bot.channel.wait_for(is_open)
        await bot.channel.say("/tool todo action=list", is_group=True, chat_id=OLD)
        await bot.channel.move_chat(OLD, NEW)
        await bot.channel.say("/run echo third", is_group=True, chat_id=NEW)
        assert not any(says("The list is empty")(message) for message in bot.channel.messages)
        await bot.channel.press("Approve once", message=card)
        await bot.channel.wait_for(says("The list is empty"))
        await bot.channel.wait_for(lambda message: is_open(message) and "third" in message.body)
        assert len(await bot.store.turns.unfinished()) == 1


async def test_what_the_session_kept_is_there_under_the_new_id_also_after_a_restart(
    tmp_path: Path, local: Config, says: Says
) -> None:
    add = "/tool todo action=add items='[\"milk\"]'"
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say(add, chat_id=OLD)
        await bot.channel.wait_for(says("1. milk"))
        await bot.channel.move_chat(OLD, NEW)
        await bot.channel.move_chat(OLD, NEW)
        entries = await bot.parts.inbox.transcript(Address("telegram", NEW), 10)
        assert [entry.role for entry in entries] == ["user", "bot"]
        assert await bot.parts.inbox.transcript(Address("telegram", OLD), 10) == ()
        moved = [row for row in await bot.store.audit.tail(50) if row.kind == "chat_moved"]
        assert len(moved) == 1
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/tool todo action=list", chat_id=NEW, event_id="n1")
        reply = await bot.channel.wait_for(says("1. milk"))
        assert reply.ref.address.chat_id == NEW
        await bot.channel.move_chat(OLD, NEW)
        assert len([row for row in await bot.store.audit.tail(50) if row.kind == "chat_moved"]) == 1


async def test_an_unsent_message_goes_to_the_new_chat(tmp_path: Path, local: Config, says: Says) -> None:
    async with running_bot(tmp_path, local) as bot:
        bot.channel.fail("send_text", TemporaryFailure("gone for a moment"))
        await bot.channel.say("/whoami", chat_id=OLD)
        await eventually(lambda: not bot.channel._faults["send_text"], "a failed try")
        await bot.channel.move_chat(OLD, NEW)
        reply = await bot.channel.wait_for(says("You are"))
        assert reply.ref.address.chat_id == NEW


async def test_a_configured_target_that_moved_is_still_allowed_and_reached(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    config = local | {
        "delivery.targets": {"team": f"telegram:{OLD}"},
        "delivery.allowed_targets": ["team"],
        "permissions.approval.auto_approve": ["nothing"],
    }
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.move_chat(OLD, NEW)
        for target in ("team", f"telegram:{OLD}", f"telegram:{NEW}"):
            await bot.channel.say(f"/tool message target={target} text=for-{target}")
            message = await bot.channel.wait_for(says(f"for-{target}"))
            assert message.ref.address.chat_id == NEW
        assert not any(is_open(message) for message in bot.channel.messages)
        await bot.channel.say("/tool message target=team text=from-inside", chat_id=NEW)
        await bot.channel.wait_for(says("from-inside"))


async def test_a_process_that_runs_goes_on_under_the_new_id(
    tmp_path: Path, local: Config, says: Says
) -> None:
    config = local | {"permissions.approval.mode": "off"}
    async with running_bot(tmp_path, config) as bot:
        await bot.channel.say("/tool process action=start command='sleep 60'", chat_id=OLD)
        await bot.channel.wait_for(says("p1"))
        await bot.channel.move_chat(OLD, NEW)
        await bot.channel.say("/tool process action=list", chat_id=NEW)
        await bot.channel.wait_for(
            lambda message: says("sleep 60")(message) and message.ref.address.chat_id == NEW
        )
