"""Drafts of a reply: one pace for a chat, held when the platform asks, never left looking unfinished."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from echo_bot.agent.journal import Journal
from echo_bot.delivery import Pace, stream
from echo_bot.errors import OutcomeUnknown, RetryAfter, StorageError, TargetGone, TemporaryFailure
from echo_bot.events import Address
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FULL_CAPABILITIES, FakeChannel, FakeMessage
from echo_bot.testing.scripted_model import Say, ScriptedModel
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Says = Callable[[str], Callable[[FakeMessage], bool]]

QUICK: Config = {"channels.stream.min_interval_ms": 100}


class HalfModel:
    """Says half of its answer, then waits for `go_on` and says the `rest`; `fails` raises there."""

    def __init__(self, fails: Exception | None = None, rest: str = "the rest of it.") -> None:
        self.go_on, self.fails, self.rest = asyncio.Event(), fails, rest
        self.model = FunctionModel(self._answer, stream_function=self._stream)

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("not streamed")])

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        yield "Half of the answer and "
        await self.go_on.wait()
        if self.fails is not None:
            raise self.fails
        yield self.rest


def fast() -> FakeChannel:
    capabilities = replace(FULL_CAPABILITIES, stream_interval_ms=20, stream_interval_group_ms=20)
    return FakeChannel("telegram", capabilities=capabilities)


async def test_after_stop_the_draft_ends_and_the_next_turn_knows(tmp_path: Path, says: Says) -> None:
    async with running_bot(tmp_path, QUICK, model=HalfModel().model, channel=fast()) as bot:
        await bot.channel.say("tell me everything")
        draft = await bot.channel.wait_for(says("Half of the answer and …"))
        await bot.channel.say("/stop")
        await eventually(lambda: draft.body == "Half of the answer and\n\n(stopped)", "the draft's end")
    later = ScriptedModel([Say("I know.")])
    async with running_bot(tmp_path, QUICK, model=later.model, channel=fast()) as bot:
        await bot.channel.say("go on", event_id="e9")
        await bot.channel.wait_for(says("I know."))
        past = repr(later.seen[0])
        assert "tell me everything" in past
        assert "This was not finished: it was stopped." in past


async def test_a_model_that_fails_half_way_leaves_its_sentence_in_the_drafts_place(
    tmp_path: Path, says: Says
) -> None:
    model = HalfModel(fails=OSError("the line broke"))
    async with running_bot(tmp_path, QUICK, model=model.model, channel=fast()) as bot:
        await bot.channel.say("tell me")
        draft = await bot.channel.wait_for(says("Half of the answer and …"))
        model.go_on.set()
        await eventually(lambda: "The model did not get this done" in draft.body, "the sentence")
        assert len(bot.channel.texts) == 1


async def test_a_fault_of_our_own_ends_the_draft_too(tmp_path: Path, says: Says) -> None:
    model = HalfModel(fails=StorageError("a fault"))
    async with running_bot(tmp_path, QUICK, model=model.model, channel=fast()) as bot:
        await bot.channel.say("tell me")
        draft = await bot.channel.wait_for(says("Half of the answer and …"))
        model.go_on.set()
        await bot.channel.wait_for(says("Something went wrong"))
        await eventually(lambda: draft.body.endswith("(not finished)"), "the draft's end")


async def test_a_turn_that_goes_on_after_a_restart_takes_up_its_draft(tmp_path: Path, says: Says) -> None:
    channel = fast()
    async with running_bot(tmp_path, QUICK, model=HalfModel().model, channel=channel) as bot:
        await channel.say("tell me")
        draft = await channel.wait_for(says("Half of the answer and …"))
        [turn] = await bot.store.turns.unfinished()
        while not await bot.store.turns.journal(turn.turn_id):
            pass
    model = HalfModel()
    model.go_on.set()
    async with running_bot(tmp_path, QUICK, model=model.model, channel=channel):
        await eventually(lambda: draft.body == "Half of the answer and the rest of it.", "the whole answer")
        assert channel.texts == ["Half of the answer and the rest of it."]


async def test_a_draft_that_may_stand_somewhere_is_not_begun_a_second_time(
    tmp_path: Path, says: Says
) -> None:
    model = HalfModel()
    async with running_bot(tmp_path, QUICK, model=model.model, channel=fast()) as bot:
        bot.channel.fail("send_text", OutcomeUnknown("the line broke"), times=2, after=True)
        await bot.channel.say("tell me")
        await bot.channel.wait_for(says("Half of the answer and …"))
        await asyncio.sleep(0.5)  # several times the pace of drafts
        bot.channel._faults.clear()
        model.go_on.set()
        whole = "Half of the answer and the rest of it."
        await eventually(lambda: whole in bot.channel.texts, "the whole answer")
        assert bot.channel.texts == ["Half of the answer and …", whole]


async def test_a_draft_holds_while_the_platform_asks_to_wait_and_the_answer_is_complete(
    tmp_path: Path, says: Says
) -> None:
    model = HalfModel()
    async with running_bot(tmp_path, QUICK, model=model.model, channel=fast()) as bot:
        now = asyncio.get_running_loop().time
        began = now()
        bot.channel.fail("send_text", RetryAfter(1.5))
        await bot.channel.say("tell me")
        await eventually(lambda: not bot.channel._faults["send_text"], "the refusal")
        model.go_on.set()
        await bot.channel.wait_for(lambda m: True, "what comes first")
        assert now() - began >= 1.5
        reply = await bot.channel.wait_for(says("the rest of it."))
        assert reply.body == "Half of the answer and the rest of it."


@pytest.mark.parametrize(("chat", "wait"), [("1", 1.5), ("2", 0.0)])
def test_a_pace_is_shared_by_one_chat_and_no_other(chat: str, wait: float) -> None:
    now = 100.0
    pace = Pace(lambda: now)
    assert pace.take(Address("telegram", "1", thread_id="7"), 2.0) == 0.0
    now = 100.5
    assert pace.take(Address("telegram", chat), 2.0) == wait


def test_a_hold_is_never_shortened() -> None:
    now = 0.0
    pace, chat = Pace(lambda: now), Address("telegram", "1")
    pace.hold(chat, 10.0)
    pace.hold(chat, 1.0)
    now = 9.0
    assert pace.take(chat, 1.0) == 1.0
    now = 10.0
    assert pace.take(chat, 1.0) == 0.0


async def test_a_draft_whose_sending_was_not_answered_becomes_the_answer_where_doubles_are_dropped(
    tmp_path: Path, says: Says
) -> None:
    model = HalfModel()
    channel = fast()
    channel.capabilities = replace(channel.capabilities, dedups_sends=True)
    async with running_bot(tmp_path, QUICK, model=model.model, channel=channel) as bot:
        bot.channel.fail("send_text", TemporaryFailure("no answer"), after=True)
        await bot.channel.say("tell me")
        await bot.channel.wait_for(says("Half of the answer and …"))
        model.go_on.set()
        whole = "Half of the answer and the rest of it."
        await eventually(lambda: bot.channel.texts == [whole], "the whole answer in the draft's place")


async def test_where_nothing_can_be_sent_no_draft_is_tried_again(tmp_path: Path, says: Says) -> None:
    model = HalfModel()
    channel = fast()
    channel.capabilities = replace(channel.capabilities, dedups_sends=True)
    async with running_bot(tmp_path, QUICK, model=model.model, channel=channel) as bot:
        bot.channel.fail("send_text", TargetGone("takes no direct messages"))
        await bot.channel.say("tell me")
        await eventually(lambda: not bot.channel._faults["send_text"], "the refusal")
        await asyncio.sleep(0.3)  # several times the pace of drafts
        assert bot.channel.texts == []
        model.go_on.set()
        await bot.channel.wait_for(says("Half of the answer and the rest of it."))


@pytest.mark.parametrize("tries", [1, 3])
async def test_a_draft_is_found_again_also_when_the_answer_has_grown_beyond_one_message(
    tmp_path: Path, says: Says, monkeypatch: pytest.MonkeyPatch, tries: int
) -> None:
    monkeypatch.setattr(stream, "_FIND_PAUSES_SECONDS", (0.0, 0.0, 0.0, 0.0))
    whole = "Half of the answer and " + "the rest of it. " * 600 + "The end."
    model = HalfModel(rest=whole.removeprefix("Half of the answer and "))
    channel = fast()
    channel.capabilities = replace(channel.capabilities, dedups_sends=True)
    rare: Config = {"channels.stream.min_interval_ms": 60_000}
    async with running_bot(tmp_path, rare, model=model.model, channel=channel) as bot:
        bot.channel.fail("send_text", OutcomeUnknown("no answer"), times=tries, after=True)
        await bot.channel.say("tell me")
        await bot.channel.wait_for(says("Half of the answer and …"))
        model.go_on.set()
        await bot.channel.wait_for(says("The end."))
        assert "".join(bot.channel.texts).split() == whole.split()


async def test_the_answer_does_not_wait_for_a_draft_that_the_platform_lets_nobody_look_for(
    tmp_path: Path, says: Says
) -> None:
    model = HalfModel()
    channel = fast()
    channel.capabilities = replace(channel.capabilities, dedups_sends=True)
    rare: Config = {"channels.stream.min_interval_ms": 60_000}
    async with running_bot(tmp_path, rare, model=model.model, channel=channel) as bot:
        bot.channel.fail("send_text", OutcomeUnknown("no answer"), after=True)
        bot.channel.fail("send_text", RetryAfter(3600.0))
        await bot.channel.say("tell me")
        await bot.channel.wait_for(says("Half of the answer and …"))
        model.go_on.set()
        await eventually(lambda: bot.parts.queues.total() == (0, 0), "the turn's end")
        assert await bot.parts.delivery.has_unsent(Address("telegram", "1"))


async def test_a_draft_goes_on_where_its_place_could_not_be_stored_at_first(
    tmp_path: Path, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = HalfModel()
    noted: list[str] = []

    async def note(journal: Journal, message_id: str) -> None:
        noted.append(message_id)
        raise StorageError("the disk is full")

    monkeypatch.setattr(Journal, "note_draft", note)
    async with running_bot(tmp_path, QUICK, model=model.model, channel=fast()) as bot:
        await bot.channel.say("tell me")
        draft = await bot.channel.wait_for(says("Half of the answer and …"))
        await eventually(lambda: len(draft.versions) > 1, "the draft drawn again")
        model.go_on.set()
        await eventually(
            lambda: bot.channel.texts == ["Half of the answer and the rest of it."], "the answer"
        )
    assert noted == [draft.ref.message_id]


async def test_a_draft_does_not_overtake_a_message_that_waits_to_be_sent(tmp_path: Path, says: Says) -> None:
    model = HalfModel()
    async with running_bot(tmp_path, QUICK, model=model.model, channel=fast()) as bot:
        bot.channel.fail("send_text", TemporaryFailure("down"))
        await bot.parts.delivery.send(Address("telegram", "1"), "first", source="s")
        await eventually(lambda: not bot.channel._faults["send_text"], "the refusal")
        await bot.channel.say("tell me")
        await bot.channel.wait_for(says("Half of the answer and …"))
        model.go_on.set()
        await bot.channel.wait_for(says("the rest of it."))
        assert bot.channel.texts == ["first", "Half of the answer and the rest of it."]
