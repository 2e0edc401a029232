"""The database refuses in the middle: denied or kept, one clear line, and the rest keeps running."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from echo_bot.approval import broker
from echo_bot.channel import inbound_event
from echo_bot.errors import StorageError
from echo_bot.events import Address, BlockType, ContentBlock, InboundEvent
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]


async def refuse(*_: object, **__: object) -> None:
    raise StorageError("the database refused: disk full")


async def test_nothing_runs_that_the_audit_cannot_record(
    tmp_path: Path, local: Config, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = local | {"permissions.approval.auto_approve": ["exec"]}
    async with running_bot(tmp_path, config) as bot:
        with monkeypatch.context() as broken:
            broken.setattr(bot.store.audit, "append", refuse)
            await bot.channel.say("/run touch made")
            await bot.channel.wait_for(says("the audit cannot be written"))
            assert not (bot.workspace / "made").exists()
        await bot.channel.say("/run touch made")
        await bot.channel.wait_for(says("no output"))


async def test_an_approved_call_does_not_run_when_its_approval_cannot_be_spent(
    tmp_path: Path, local: Config, is_open: Is, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run touch made")
        await bot.channel.wait_for(is_open)
        monkeypatch.setattr(bot.store.approvals, "use", refuse)
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(says("Something went wrong on my side"))
        assert not (bot.workspace / "made").exists()
        while await bot.store.turns.unfinished():
            await asyncio.sleep(0.01)


async def test_a_press_that_cannot_be_stored_is_answered_and_can_be_repeated(
    tmp_path: Path, local: Config, is_open: Is, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run touch made")
        await bot.channel.wait_for(is_open)
        with monkeypatch.context() as broken:
            broken.setattr(bot.store.approvals, "decide", refuse)
            reply = await bot.channel.press("Approve once")
            assert (reply.ok, "could not be stored" in reply.text) == (False, True)
            assert not (bot.workspace / "made").exists()
        assert (await bot.channel.press("Approve once")).ok
        await bot.channel.wait_for(says("no output"))


async def test_a_waiting_call_survives_a_database_that_is_away_for_a_moment(
    tmp_path: Path, local: Config, is_open: Is, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker, "_MAX_WAIT_STEP_SECONDS", 0.05)
    monkeypatch.setattr(broker, "_RETRY_READ_SECONDS", 0.05)
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo hi")
        await bot.channel.wait_for(is_open)
        while (await bot.store.approvals.pending())[0].deadline is None:
            await asyncio.sleep(0.01)
        refusals: list[object] = []

        async def count(*args: object) -> None:
            refusals.append(args)
            await refuse()

        with monkeypatch.context() as broken:
            broken.setattr(bot.store.approvals, "get", count)
            await eventually(lambda: len(refusals) > 2, "the waiting call to meet the fault")
        assert (await bot.channel.press("Approve once")).ok
        await bot.channel.wait_for(says("hi\n"))


async def test_a_card_that_cannot_be_rendered_denies_and_is_listed_nowhere(
    tmp_path: Path, local: Config, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no such colour")

    async with running_bot(tmp_path, local) as bot:
        with monkeypatch.context() as broken:
            broken.setattr("echo_bot.approval.faces.render_open", fail)
            await bot.channel.say("/run touch made")
            await bot.channel.wait_for(says("the gate failed on this call"))
        assert not await bot.store.approvals.pending()
        assert not (bot.workspace / "made").exists()


async def test_a_command_that_meets_a_broken_database_says_so(
    tmp_path: Path, local: Config, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_bot(tmp_path, local) as bot:
        monkeypatch.setattr(bot.store.grants, "list", refuse)
        await bot.channel.say("/grants")
        await bot.channel.wait_for(says("/grants did not work"))


async def test_a_turn_that_cannot_even_begin_stays_stored_for_the_next_start(
    tmp_path: Path, local: Config, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    from echo_bot.testing.fake_channel import FakeChannel

    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        with monkeypatch.context() as broken:
            broken.setattr(bot.store.turns, "set_state", refuse)
            broken.setattr(bot.store.outbox, "put", refuse)
            assert await channel.say("hello")
            await eventually(lambda: bot.parts.queues.total() == (0, 0), "the turn to give up")
    async with running_bot(tmp_path, local, channel=channel):
        await channel.wait_for(says("No model is configured"))


async def test_a_sent_message_that_cannot_be_marked_is_sent_once(
    tmp_path: Path, local: Config, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_bot(tmp_path, local) as bot:
        mark, refusals = bot.store.outbox.mark, [2]

        async def sometimes(row_id: int, state: str, **more: object) -> None:
            if state == "sent" and refusals[0]:
                refusals[0] -= 1
                raise StorageError("busy")
            await mark(row_id, state, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(bot.store.outbox, "mark", sometimes)
        await bot.channel.say("hello")
        await bot.channel.wait_for(says("No model"))
        await bot.channel.say("/whoami")
        await bot.channel.wait_for(says("You are"))
        assert sum(says("No model")(m) for m in bot.channel.messages) == 1


async def test_a_deletion_that_cannot_be_stored_can_be_told_again(
    tmp_path: Path, local: Config, is_open: Is, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = Address("telegram", "1")
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo first")
        await bot.channel.wait_for(is_open)
        for text in ("/run echo second", "/run echo third"):
            await bot.channel.deliver(message(text))
        with monkeypatch.context() as broken:
            broken.setattr(bot.store.turns, "set_state", refuse)
            with pytest.raises(StorageError):
                await bot.parts.inbox.taken_back(where, "/run echo second")
        waiting = [json.loads(turn.event_json)["message_id"] for turn in bot.parts.queues.all_waiting()]
        assert waiting == ["/run echo second", "/run echo third"]
        assert await bot.parts.inbox.taken_back(where, "/run echo second")
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(lambda m: is_open(m) and "echo third" in str(m.card))
        assert not any("echo second" in str(m.card) for m in bot.channel.messages)


def message(text: str) -> InboundEvent:
    """One whose id on the platform is what it says."""
    return inbound_event(
        event_id=text,
        channel="telegram",
        chat_id="1",
        sender_id="1",
        timestamp=datetime.now(UTC),
        content=(ContentBlock(BlockType.TEXT, text=text),),
        message_id=text,
    )
