"""An album whose parts come one by one: each is stored before it is confirmed, all of them are one turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from echo_bot.channel import inbound_event
from echo_bot.events import Address, BlockType, ContentBlock, InboundEvent
from echo_bot.session import event_from_json
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.clock import let_pass
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import Say, ScriptedModel

Config = dict[str, object]
Says = Callable[[str], Callable[[FakeMessage], bool]]
QUIET_SECONDS = 60.0
"""Longer than the slowest machine takes between two parts: a test lets it pass."""


@pytest.fixture(autouse=True)
def long_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("echo_bot.inbox.albums.QUIET_SECONDS", QUIET_SECONDS)


def part(number: int, text: str = "", sender: str = "1", album: str = "a") -> InboundEvent:
    words = (ContentBlock(BlockType.TEXT, text=text),) if text else ()
    return inbound_event(
        event_id=f"u{number}",
        channel="telegram",
        chat_id="-7",
        sender_id=sender,
        message_id=f"p{number}",
        timestamp=datetime.now(UTC),
        content=(*words, ContentBlock(BlockType.IMAGE, ref=f"file-{number}", mime="image/jpeg")),
        is_group=True,
        mentioned=bool(text),
        dedup_ids=(f"m{number}",),
        album_id=album,
    )


async def refs(bot: RunningBot) -> list[list[str]]:
    """The files of every turn that has not ended, oldest first."""
    events = [event_from_json(turn.event_json) for turn in await bot.store.turns.unfinished()]
    return [[block.ref for block in event.content if block.ref] for event in events]


async def test_the_parts_are_one_turn_and_only_the_first_needs_a_mention(
    tmp_path: Path, local: Config, says: Says
) -> None:
    model = ScriptedModel([Say("nice pictures")])
    async with running_bot(tmp_path, local, model=model.model) as bot:
        port = bot.parts.inbox
        assert [await port.receive(each) for each in (part(1, "look"), part(2), part(3))] == [True] * 3
        assert await refs(bot) == [["file-1", "file-2", "file-3"]]
        let_pass(QUIET_SECONDS)
        await bot.channel.wait_for(says("nice pictures"))
        assert len(model.seen) == 1
        entries = await port.transcript(bot.channel.messages[0].ref.address, 10)
        assert [entry.text for entry in entries if entry.role == "user"] == [
            "look\n[image]\n[image]\n[image]"
        ]


async def test_a_part_that_comes_after_the_turn_began_needs_no_mention_either(
    tmp_path: Path, local: Config, says: Says
) -> None:
    model = ScriptedModel([Say("nice picture"), Say("another one")])
    async with running_bot(tmp_path, local, model=model.model) as bot:
        port = bot.parts.inbox
        await port.receive(part(1, "look"))
        let_pass(QUIET_SECONDS)
        await bot.channel.wait_for(says("nice picture"))
        others = (part(2, sender="66"), part(3, album="b"), part(4, album=""))
        assert [await port.receive(each) for each in (*others, part(2))] == [False, False, False, True]
        let_pass(QUIET_SECONDS)
        await bot.channel.wait_for(says("another one"))
        assert "file-2" not in str(model.seen[0])


async def test_a_part_that_comes_again_is_not_joined_twice(tmp_path: Path, local: Config) -> None:
    async with running_bot(tmp_path, local) as bot:
        port = bot.parts.inbox
        await port.receive(part(1, "look"))
        assert [await port.receive(part(2)) for _ in range(2)] == [True, False]
        assert not await port.receive(part(1, "look"))
        assert await refs(bot) == [["file-1", "file-2"]]


async def test_what_comes_after_the_album_is_after_it(tmp_path: Path, local: Config, says: Says) -> None:
    model = ScriptedModel([Say("nice pictures"), Say("nice words")])
    async with running_bot(tmp_path, local, model=model.model) as bot:
        port = bot.parts.inbox
        await port.receive(part(1, "look"))
        await port.receive(part(2))
        await port.receive(part(3, "and this", album=""))
        await bot.channel.wait_for(says("nice words"))
        assert [message.body for message in bot.channel.messages] == ["nice pictures", "nice words"]
        assert "and this" not in str(model.seen[0])


@pytest.mark.parametrize(
    ("command", "answer"), [("/stop", "Stopped 1 message that waited."), ("/new", "A fresh conversation")]
)
async def test_an_album_that_still_waits_for_parts_is_stopped_like_any_turn(
    tmp_path: Path, local: Config, says: Says, command: str, answer: str
) -> None:
    model = ScriptedModel([Say("nice pictures")])
    async with running_bot(tmp_path, local, model=model.model) as bot:
        await bot.parts.inbox.receive(part(1, "look"))
        await bot.channel.say(command, chat_id="-7", is_group=True)
        await bot.channel.wait_for(says(answer))
        assert await bot.store.turns.unfinished() == ()
        assert model.seen == []


async def test_an_album_that_still_waits_for_parts_goes_along_when_its_chat_moves(
    tmp_path: Path, local: Config, says: Says
) -> None:
    model = ScriptedModel([Say("nice pictures")])
    async with running_bot(tmp_path, local, model=model.model) as bot:
        port = bot.parts.inbox
        await port.receive(part(1, "look"))
        await port.chat_moved(Address("telegram", "-7"), "-100")
        assert await port.receive(replace(part(2), chat_id="-100"))
        assert await refs(bot) == [["file-1", "file-2"]]
        let_pass(QUIET_SECONDS)
        answer = await bot.channel.wait_for(says("nice pictures"))
        assert (answer.ref.address.chat_id, len(model.seen)) == ("-100", 1)


async def test_nobody_else_s_part_joins(tmp_path: Path, local: Config) -> None:
    shared = local | {"session.group_scope": "shared"}
    async with running_bot(tmp_path, shared) as bot:
        await bot.parts.inbox.receive(part(1, "look"))
        assert not await bot.parts.inbox.receive(part(2, "and mine", sender="66"))
        assert await refs(bot) == [["file-1"]]


async def test_a_restart_between_the_parts_loses_none(tmp_path: Path, local: Config, says: Says) -> None:
    model = ScriptedModel([Say("first answer"), Say("second answer")])
    async with running_bot(tmp_path, local) as bot:
        await bot.parts.inbox.receive(part(1, "look"))
        await bot.parts.inbox.receive(part(2))
        await bot.parts.queues.close()
    async with running_bot(tmp_path, local, model=model.model) as bot:
        await bot.channel.wait_for(says("first answer"))
        assert not await bot.parts.inbox.receive(part(2))
        assert await bot.parts.inbox.receive(part(3, "@bot the rest"))
        let_pass(QUIET_SECONDS)
        await bot.channel.wait_for(says("second answer"))
    assert len(model.seen) == 2
