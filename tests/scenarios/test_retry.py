"""/retry: the last message runs again as a new turn, and the model sees the new attempt alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from pydantic_ai.exceptions import ModelHTTPError

from echo_bot.channel import FileLocation
from echo_bot.events import BlockType, ContentBlock, SessionKey
from echo_bot.storage.records import TurnState
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FakeChannel, FakeMessage
from echo_bot.testing.scripted_model import CallTool, Fail, Say, ScriptedModel
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]
Says = Callable[[str], Is]

HERE = SessionKey("telegram:1")


async def idle(bot: RunningBot) -> None:
    """The reply is there a moment before its turn is over."""
    await eventually(lambda: bot.parts.queues.total() == (0, 0), "the turns to end")


def counted(channel: FakeChannel, text: str) -> int:
    return sum(text in each for each in channel.texts)


async def test_a_done_turn_runs_again_and_its_first_attempt_is_gone_from_what_the_model_sees(
    tmp_path: Path, local: Config, says: Says
) -> None:
    script = ScriptedModel([Say("preface"), Say("first answer"), Say("second answer"), Say("last")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        for text, answer in (("hello", "preface"), ("tell me", "first answer"), ("/retry", "second answer")):
            await idle(bot)
            await bot.channel.say(text)
            await bot.channel.wait_for(says(answer))
        await bot.channel.say("go on")
        await bot.channel.wait_for(says("last"))
        seen = str(script.seen[-1])
        assert "first answer" not in seen
        assert (seen.count("tell me"), seen.count("second answer"), seen.count("preface")) == (1, 1, 1)
        assert "/retry" not in seen


async def test_a_failed_turn_runs_again(tmp_path: Path, local: Config, says: Says) -> None:
    script = ScriptedModel([Fail(ModelHTTPError(400, "m", "refused")), Say("this time")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("tell me")
        await bot.channel.wait_for(says("did not get this done"))
        await idle(bot)
        await bot.channel.say("/retry")
        await bot.channel.wait_for(says("this time"))
        assert "not finished" not in str(script.seen[-1])


async def test_a_stopped_call_runs_again_through_the_gate(
    tmp_path: Path, local: Config, is_open: Is, says: Says
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.channel.say("/run echo it-ran")
        first = await bot.channel.wait_for(is_open)
        assert "runs or waits" in (await bot.channel.command("/retry")).text
        await bot.channel.say("/stop")
        await bot.channel.wait_for(says("Stopped 1 turn."))
        await idle(bot)
        await bot.channel.say("/retry")
        second = await bot.channel.wait_for(is_open)
        assert second.ref != first.ref
        assert second.card is not None
        await bot.channel.say(f"/approve {second.card.short_id}")
        await bot.channel.wait_for(says("it-ran"))


async def test_other_words_take_the_place_of_the_message(tmp_path: Path, local: Config, says: Says) -> None:
    script = ScriptedModel([Say("alpha"), Say("beta")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("tell me about cats")
        await bot.channel.wait_for(says("alpha"))
        await idle(bot)
        await bot.channel.say("/retry tell me about dogs")
        await bot.channel.wait_for(says("beta"))
        seen = str(script.seen[-1])
        assert "dogs" in seen
        assert "cats" not in seen
        await idle(bot)
        await bot.channel.say("/retry /tool todo action=list")
        await bot.channel.wait_for(says("The list is empty"))
        await idle(bot)
        await bot.channel.say("/retry /approve abc")
        await bot.channel.wait_for(says("other commands are written alone"))
        assert "written alone" in (await bot.channel.command("/retry /retry")).text


async def test_a_redelivered_retry_runs_once(tmp_path: Path, local: Config, says: Says) -> None:
    channel = FakeChannel("telegram")
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await channel.say("/tool todo action=list")
        await channel.wait_for(says("The list is empty"))
        await idle(bot)
        assert await channel.say("/retry", event_id="again")
        await eventually(lambda: counted(channel, "The list is empty") == 2, "the second answer")
        await idle(bot)
        assert not await channel.say("/retry", event_id="again")
        assert (await bot.channel.command("/retry", event_id="again")).repeated
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await idle(bot)
        assert not await channel.say("/retry", event_id="again")
        last = await bot.store.turns.last_message(HERE)
        assert last is not None
        assert (last.event_id, last.state) == ("again", TurnState.DONE)
        assert counted(channel, "The list is empty") == 2


async def test_there_must_be_something_to_run_again(tmp_path: Path, local: Config, says: Says) -> None:
    async with running_bot(tmp_path, local) as bot:
        await idle(bot)
        await bot.channel.say("/retry")
        await bot.channel.wait_for(says("no message in this conversation"))


async def test_whoever_retries_in_a_shared_chat_speaks_for_themselves(
    tmp_path: Path, local: Config, says: Says
) -> None:
    """The admin's command gains nothing for somebody else: it is theirs, and they are not elevated."""
    config = local | {
        "channels.telegram.allow_from": ["1", "2"],
        "session.group_scope": "shared",
        "permissions.approval.auto_approve": ["exec"],
    }
    async with running_bot(tmp_path, config) as bot:
        say = partial(bot.channel.say, chat_id="-7", is_group=True, mentioned=True)
        await say("/run echo it-ran", sender_id="1")
        await bot.channel.wait_for(says("it-ran"))
        await idle(bot)
        await say("/retry", sender_id="2")
        await bot.channel.wait_for(says("telegram:2 is not elevated"))


async def test_a_file_that_came_along_is_not_fetched_twice(tmp_path: Path, local: Config, says: Says) -> None:
    channel = FakeChannel("telegram")
    (tmp_path / "sent.txt").write_text("what was sent")
    channel.files["f1"] = FileLocation(path=str(tmp_path / "sent.txt"))
    attached = ContentBlock(BlockType.FILE, ref="f1", name="sent.txt", mime="text/plain", size=13)
    config = local | {"channels.telegram.api_base": "http://127.0.0.1:9"}
    async with running_bot(tmp_path, config, channel=channel) as bot:
        await channel.say("", files=[attached])
        first = await channel.wait_for(says("Received"))
        await idle(bot)
        await channel.say("/retry read it")
        await eventually(lambda: counted(channel, "Received") == 2, "the second answer")
        assert channel.texts[-1].splitlines()[0] == first.body.splitlines()[0]
        assert channel.located == ["f1"]
        assert len(list((bot.workspace / "incoming").rglob("*.txt"))) == 1


async def test_a_retry_while_paused_waits(tmp_path: Path, local: Config, says: Says) -> None:
    script = ScriptedModel([CallTool("todo", {"action": "list"}), Say("alpha"), Say("beta")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("tell me")
        await bot.channel.wait_for(says("alpha"))
        await idle(bot)
        await bot.channel.say("/pause")
        await bot.channel.wait_for(says("Everything is paused"))
        await idle(bot)
        await bot.channel.say("/retry")
        await bot.channel.wait_for(says("Paused: I will read this"))
        assert bot.parts.queues.total() == (0, 1)
        await bot.channel.say("/resume")
        await bot.channel.wait_for(says("beta"))


@pytest.mark.parametrize("command", ["/retry", "/retry other words"])
async def test_retrying_a_retry_repeats_the_same_message(
    tmp_path: Path, local: Config, says: Says, command: str
) -> None:
    script = ScriptedModel([Say("alpha"), Say("beta"), Say("gamma")])
    async with running_bot(tmp_path, local, model=script.model) as bot:
        await bot.channel.say("tell me")
        await bot.channel.wait_for(says("alpha"))
        await idle(bot)
        await bot.channel.say("/retry")
        await bot.channel.wait_for(says("beta"))
        await idle(bot)
        await bot.channel.say(command)
        await bot.channel.wait_for(says("gamma"))
        seen = str(script.seen[-1])
        assert ("alpha" in seen, "beta" in seen) == (False, False)
        assert ("tell me" in seen) is (command == "/retry")
