"""The rules for what comes in: access first, one claim for every way in, order, what never waits, threads."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echo_bot.channel import CommandReply, FileLocation, inbound_event
from echo_bot.delivery import status
from echo_bot.events import Address, BlockType, ContentBlock, EventType, InboundEvent
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import Say, ScriptedModel

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

ATTACHED = ContentBlock(BlockType.FILE, ref="f1", name="a.txt", mime="text/plain", size=3)


def event(
    text: str, event_id: str, *dedup_ids: str, event_type: EventType = EventType.MESSAGE
) -> InboundEvent:
    return inbound_event(
        event_id=event_id,
        dedup_ids=dedup_ids,
        event_type=event_type,
        channel="telegram",
        chat_id="1",
        sender_id="1",
        message_id="m1",
        timestamp=datetime.now(UTC),
        content=(ContentBlock(BlockType.TEXT, text=text),),
    )


async def test_a_stranger_causes_no_typing_sign_no_download_and_no_answer(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        bot.channel.files["f1"] = FileLocation("http://127.0.0.1:1/a")
        assert not await bot.channel.say("look", sender_id="9", chat_id="9", files=[ATTACHED])
        assert not await bot.channel.say("", is_group=True, chat_id="100", files=[ATTACHED])
        await bot.channel.say("/whoami")
        await bot.channel.wait_for(says("You are"))
        assert (bot.channel.located, bot.channel.typed, len(bot.channel.messages)) == ([], [], 1)
        assert await bot.parts.inbox.transcript(Address("telegram", "9"), 5) == ()


async def test_all_ids_of_an_update_are_claimed_by_whichever_way_it_came_first(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        assert await bot.channel.deliver(event("/tool todo action=list", "envelope-1", "team:chat:1.5"))
        await bot.channel.wait_for(says("The list is empty"))
        assert not await bot.channel.deliver(event("/tool todo action=list", "envelope-2", "team:chat:1.5"))
        assert not await bot.channel.deliver(event("/tool todo action=list", "team:chat:1.5"))
    async with running_bot(tmp_path, local) as bot:
        repeated = event("/tool todo action=list", "envelope-3", "envelope-1")
        assert not await bot.channel.deliver(repeated)
        assert await bot.parts.inbox.command(repeated) == CommandReply(repeated=True)
        assert bot.channel.messages == []


async def test_one_session_keeps_its_order_while_another_goes_on(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo one", chat_id="1")
        card = await bot.channel.wait_for(is_open)
        for number in range(3):
            await bot.channel.say(f"/tool todo action=add items='[\"task {number}\"]'", chat_id="1")
        await bot.channel.say("/tool todo action=list", chat_id="2")
        other = await bot.channel.wait_for(says("The list is empty"))
        assert other.ref.address.chat_id == "2"
        assert not any(says("task")(message) for message in bot.channel.messages)
        await bot.channel.press("Approve once", message=card)
        last = await bot.channel.wait_for(says("3. task 2"))
        assert [last.body.index(f"task {number}") for number in range(3)] == sorted(
            last.body.index(f"task {number}") for number in range(3)
        )


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("/status", "Open approvals: 1"),
        ("/approvals", "Open approvals:"),
        ("/pause", "Everything is paused"),
        ("/resume", "Nothing is paused"),
        ("/help", "Write a message"),
        ("/deny {id}", "Denied"),
        ("/stop", "Stopped 1 turn and 1 message that waited."),
    ],
)
async def test_what_people_say_about_a_turn_never_waits_behind_it(
    tmp_path: Path, local: Config, is_open: Is, says: Says, command: str, answer: str
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run sleep 60")
        card = await bot.channel.wait_for(is_open)
        await bot.channel.say("/tool todo action=list")
        assert card.card is not None
        await bot.channel.say(command.format(id=card.card.short_id))
        await bot.channel.wait_for(says(answer))


async def test_a_paused_session_holds_new_work_and_loses_none(
    tmp_path: Path, local: Config, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/pause")
        await bot.channel.wait_for(says("is paused"))
        await bot.channel.say("/tool todo action=list")
        await bot.channel.say("/status")
        await bot.channel.wait_for(says("1 waiting"))
        assert not any(says("The list is empty")(message) for message in bot.channel.messages)
        await bot.channel.say("/resume")
        await bot.channel.wait_for(says("The list is empty"))


@pytest.mark.parametrize("command", ["/approve {id}", "/deny {id}"])
async def test_a_decision_that_is_older_than_the_backlog_decides_nothing(
    tmp_path: Path, local: Config, is_open: Is, says: Says, command: str
) -> None:
    async with running_bot(tmp_path, local | {"channels.max_backlog_minutes": 30}) as bot:
        await bot.channel.say("/run echo hi")
        card = await bot.channel.wait_for(is_open)
        assert card.card is not None
        old = datetime.now(UTC) - timedelta(hours=1)
        text = command.format(id=card.card.short_id)
        assert not await bot.channel.say(text, timestamp=old)
        await bot.channel.wait_for(says("too old to act on"))
        assert "too late" in (await bot.channel.command(text, timestamp=old)).text
        assert is_open(card)


async def test_a_thread_keeps_everything_that_belongs_to_it(
    tmp_path: Path, local: Config, is_open: Is, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status, "_SHOWN_AFTER_SECONDS", 0.05)
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run sleep 0.3; echo done", chat_id="100", thread_id="7", is_group=True)
        await bot.channel.wait_for(is_open)
        await bot.channel.say("wait for me", chat_id="100", thread_id="7", is_group=True, mentioned=True)
        await bot.channel.wait_for(says("A decision is open"))
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(says("done\n"))
        await bot.channel.wait_for(says("No model is configured"))
        places = {message.ref.address for message in bot.channel.messages} | set(bot.channel.typed)
        assert places == {Address("telegram", "100", "7")}
        assert any(message.card and "is done" in message.card.title for message in bot.channel.messages)


async def test_two_threads_of_a_chat_are_two_conversations(tmp_path: Path, local: Config, says: Says) -> None:
    model = ScriptedModel([Say("first"), Say("second"), Say("third")])
    async with running_bot(tmp_path, local, model=model.model) as bot:
        await bot.channel.say("the code is 17", chat_id="100", thread_id="7")
        await bot.channel.wait_for(says("first"))
        await bot.channel.say("what is the code?", chat_id="100", thread_id="8")
        await bot.channel.wait_for(says("second"))
        await bot.channel.say("what is the code?", chat_id="100", thread_id="7")
        await bot.channel.wait_for(says("third"))
        assert ["the code is 17" in repr(seen) for seen in model.seen] == [True, False, True]
