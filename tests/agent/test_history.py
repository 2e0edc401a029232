"""Views of a conversation: valid for a provider at every point, short enough, the same after a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from echo_bot.agent.history import (
    as_told,
    estimated_tokens,
    newest_that_fit,
    problem_of,
    results_to_shorten,
    text_tokens,
    without_old_results,
    without_thoughts,
)
from echo_bot.agent.journal import Journal
from echo_bot.agent.older import OlderTurns, PastTurn
from echo_bot.agent.room import Room
from echo_bot.events import SessionKey, TurnId
from echo_bot.storage.records import JournalEntry
from echo_bot.storage.usage_record import Summary

NOW = datetime(2026, 1, 2, tzinfo=UTC)
HERE = SessionKey("telegram:1")


def said(text: str) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(text)])


def answered(text: str) -> ModelResponse:
    return ModelResponse(parts=[TextPart(text)])


def calls(*ids: str) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart("exec", {"command": "ls"}, each) for each in ids])


def results(*ids: str, size: int = 5) -> ModelRequest:
    return ModelRequest(parts=[ToolReturnPart("exec", "r" * size, each) for each in ids])


HISTORIES: dict[str, tuple[Sequence[ModelMessage], str]] = {
    "a question": ([said("hi")], ""),
    "a question after an answer": ([said("hi"), answered("yes"), said("and?")], ""),
    "calls and their results": ([said("go"), calls("a", "b"), results("b", "a")], ""),
    "nothing": ([], "it does not begin and end with a request"),
    "an answer first": ([answered("hi"), said("hi")], "it does not begin and end with a request"),
    "an answer last": ([said("hi"), answered("yes")], "it does not begin and end with a request"),
    "two questions": ([said("a"), said("b"), said("c")], "message 1: two of a kind follow one another"),
    "a call without a result": (
        [said("go"), calls("a"), said("x")],
        "message 2: answers [], called were ['a']",
    ),
    "a result without a call": (
        [said("go"), answered("x"), results("a")],
        "message 2: answers ['a'], called were []",
    ),
    "a result twice": (
        [said("go"), calls("a"), results("a", "a")],
        "message 2: answers ['a', 'a'], called were ['a']",
    ),
    "a result too late": (
        [said("go"), calls("a"), said("x"), answered("y"), results("a")],
        "message 2: answers [], called were ['a']",
    ),
    "two calls with one id": (
        [said("go"), calls("a", "a"), results("a")],
        "message 1: two calls with one id",
    ),
    "an empty answer": ([said("go"), ModelResponse(parts=[]), said("x")], "message 1: an empty answer"),
}


@pytest.mark.parametrize(("messages", "problem"), HISTORIES.values(), ids=HISTORIES.keys())
def test_what_a_provider_says_to(messages: Sequence[ModelMessage], problem: str) -> None:
    assert problem_of(messages) == problem


def test_other_writing_takes_more_tokens_for_each_character() -> None:
    assert (text_tokens("a" * 400), text_tokens("好" * 400), text_tokens("")) == (100, 400, 0)


def test_a_long_result_is_left_out_with_its_ends_and_a_short_one_stays() -> None:
    messages: list[ModelMessage] = [said("go"), calls("a"), results("a", size=9000), calls("b"), results("b")]
    shorter = without_old_results(messages, 5)
    part = shorter[2].parts[0]
    assert isinstance(part, ToolReturnPart)
    assert "8,800 characters left out" in str(part.content)
    assert shorter[4] == messages[4]
    assert problem_of(shorter) == ""


def test_thoughts_do_not_outlive_their_turn() -> None:
    messages: list[ModelMessage] = [
        said("go"),
        ModelResponse(parts=[ThinkingPart("hm"), TextPart("yes")]),
    ]
    assert without_thoughts(messages)[1].parts == [TextPart("yes")]
    assert without_thoughts([ModelResponse(parts=[ThinkingPart("hm")])])[0].parts == [TextPart("(no answer)")]


def test_the_newest_turns_that_fit_are_counted_from_the_end() -> None:
    turns: list[list[ModelMessage]] = [[said("x" * 400), answered("y" * 400)] for _ in range(5)]
    assert [newest_that_fit(turns, most) for most in (0, 208, 209, 600, 10_000)] == [0, 0, 1, 2, 5]


def test_a_conversation_is_told_with_calls_and_results() -> None:
    told = as_told([said("go"), calls("a"), results("a"), answered("done")])
    assert told == 'User: go\nCalls exec {"command":"ls"}\nResult of exec: rrrrr\nAssistant: done'


# One step of a turn is a number of calls, and how long each of their results is.
STEPS = st.lists(st.lists(st.integers(0, 3000), min_size=1, max_size=3), max_size=6)
TURNS = st.lists(st.tuples(st.integers(0, 2000), STEPS), max_size=8)


def messages_of(number: int, turn: tuple[int, list[list[int]]]) -> list[ModelMessage]:
    """A whole turn, which ends in an answer."""
    length, steps = turn
    made: list[ModelMessage] = [said(f"question {number} " + "x" * length)]
    for place, sizes in enumerate(steps):
        ids = [f"{number}.{place}.{index}" for index in range(len(sizes))]
        made.append(calls(*ids))
        made.append(
            ModelRequest(
                parts=[
                    ToolReturnPart("exec", "r" * size, each) for each, size in zip(ids, sizes, strict=True)
                ]
            )
        )
    return [*made, answered(f"answer {number}")]


class Notes:
    """The part of the store that a journal and summaries need."""

    def __init__(self) -> None:
        self.entries: list[JournalEntry] = []
        self.summary: Summary | None = None

    async def append(self, turn_id: TurnId, entry: JournalEntry) -> None:
        if (entry.kind, entry.key) not in {(each.kind, each.key) for each in self.entries}:
            self.entries.append(entry)

    async def get(self, session_key: SessionKey) -> Summary | None:
        return self.summary

    async def put(self, session_key: SessionKey, summary: Summary) -> None:
        self.summary = summary

    def journal(self) -> Journal:
        return Journal(self, TurnId("t"), tuple(self.entries))  # type: ignore[arg-type]


def room_of(notes: Notes, turns: Sequence[list[ModelMessage]], at_tokens: int, *, fails: bool) -> Room:
    async def summarise(text: str) -> str:
        if fails:
            raise ValueError("no model")
        return "In short: it went on."

    past = [PastTurn(f"t{n}", NOW + timedelta(minutes=n), turn) for n, turn in enumerate(turns)]
    journal = notes.journal()
    older = OlderTurns(notes, HERE, past, notes.summary, summarise, at_tokens, notes=journal)
    given: list[ModelMessage] = [said("AGENTS.md"), answered("I have read it.")]
    return Room(journal, given, older, at_tokens)


@settings(max_examples=150, deadline=None)
@given(TURNS, st.tuples(st.integers(0, 500), STEPS), st.integers(50, 4000), st.booleans(), st.data())
def test_what_is_sent_is_valid_at_every_point_and_the_same_after_a_crash(
    past: list[tuple[int, list[list[int]]]],
    now: tuple[int, list[list[int]]],
    at_tokens: int,
    fails: bool,
    data: st.DataObject,
) -> None:
    turns = [messages_of(number, turn) for number, turn in enumerate(past)]
    turn = messages_of(99, now)[:-1]
    asked = [place + 1 for place, message in enumerate(turn) if isinstance(message, ModelRequest)]
    crash = data.draw(st.sampled_from(asked))
    notes = Notes()

    async def send() -> None:
        room = room_of(notes, turns, at_tokens, fails=fails)
        begun = room.begin()
        for end in asked:
            sent = await room.view([*begun, *turn[:end]])
            assert problem_of(sent) == ""
            assert sent[-1].parts[0] in turn[end - 1].parts
            if end == crash:
                again = room_of(notes, turns, at_tokens, fails=fails)
                revived = await again.view([*again.begin(), *turn[:end]])
                assert _plain(revived) == _plain(sent)
                room, begun = again, again.begin()

    asyncio.run(send())


def _plain(messages: list[ModelMessage]) -> list[object]:
    return [(type(m).__name__, [getattr(p, "content", p) for p in m.parts]) for m in messages]


@settings(max_examples=100, deadline=None)
@given(st.tuples(st.integers(0, 200), STEPS), st.integers(0, 3000))
def test_shortening_results_comes_down_to_the_size_or_goes_as_far_as_it_can(
    turn: tuple[int, list[list[int]]], most: int
) -> None:
    messages = messages_of(0, turn)[:-1]
    before = results_to_shorten(messages, most)
    shorter = without_old_results(messages, before)
    assert estimated_tokens(shorter) <= most or before == len(messages) - 1
    assert shorter[-1] == messages[-1]


async def test_within_a_long_turn_old_results_are_cut_and_the_last_stays_whole() -> None:
    notes = Notes()
    turn = messages_of(1, (10, [[4000]] * 40))[:-1]
    room = room_of(notes, [], 10_000, fails=False)
    begun = room.begin()
    for end in range(1, len(turn) + 1, 2):
        sent = await room.view([*begun, *turn[:end]])
        assert estimated_tokens(sent) <= 10_000
    assert "r" * 4000 in str(sent[-1])
    assert len(notes.entries) < 10


async def test_what_cannot_be_summarised_is_left_out_of_this_turn_and_is_there_in_the_next() -> None:
    notes = Notes()
    turns = [messages_of(n, (4000, [])) for n in range(4)]
    turn = messages_of(9, (10, []))[:-1]
    room = room_of(notes, turns, 3000, fails=True)
    sent = str(await room.view([*room.begin(), *turn]))
    assert "Earlier turns of this conversation were left out" in sent
    assert "question 0" not in sent
    assert notes.summary is None
    notes.entries.clear()
    later = room_of(notes, turns, 3000, fails=False)
    assert "In short: it went on." in str(await later.view([*later.begin(), *turn]))


async def test_what_the_model_counts_beside_the_messages_is_taken_into_account() -> None:
    notes = Notes()
    turn = messages_of(1, (4000, []))[:-1]
    room = room_of(notes, [messages_of(0, (4000, []))], 3000, fails=False)
    begun = room.begin()
    await room.view([*begun, *turn])
    assert notes.summary is None
    counted = answered("x")
    counted.usage.input_tokens = room.sent_tokens + 2000
    room.learn(room.sent_tokens, counted)
    await room.view([*begun, *turn])
    assert notes.summary is not None


async def test_a_journal_reads_back_what_it_was_told_last_to_leave_out() -> None:
    notes = Notes()
    journal = notes.journal()
    await journal.add_messages([said("x"), calls("a")])
    for cut, through in ((3, "t1"), (7, "t4")):
        await journal.note_results_cut(cut)
        await journal.note_left_out(through)
    for each in (journal, notes.journal()):
        assert (each.results_cut(), each.left_out()) == (7, "t4")
        assert (each.response_count, each.message_count) == (1, 2)
