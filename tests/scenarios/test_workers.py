"""Workers: what they are given, what they bring back, and what they may not do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from echo_bot.events import (
    EventId,
    EventType,
    InboundEvent,
    SessionKey,
    TurnId,
    WorkerBrief,
)
from echo_bot.inbox.incoming import without_trust
from echo_bot.session import event_from_json
from echo_bot.storage.records import TurnRecord, TurnState
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.cast import Cast
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import CallTool, Fail, Say
from echo_bot.testing.waiting import eventually
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult

Config = dict[str, object]
Says = Callable[[str], Callable[[FakeMessage], bool]]


@pytest.fixture
def free(local: Config) -> Config:
    """Nobody is asked."""
    return local | {"permissions.approval.mode": "off"}


async def workers_of(bot: RunningBot) -> list[TurnRecord]:
    """Every worker there was, in the order of their beginnings."""
    rows = await bot.store.audit.of_kind("worker_started")
    ids = [json.loads(row.body_json)["turn"] for row in rows]
    turns = [await bot.store.turns.get(each) for each in ids]
    return [turn for turn in turns if turn is not None]


async def test_each_task_has_its_worker_and_the_answers_come_back_in_order(
    tmp_path: Path, free: Config, says: Says
) -> None:
    cast = Cast(
        {
            "go": [
                CallTool(
                    "delegate_task",
                    {"tasks": ["count the trams", {"goal": "count the trains", "context": "only red ones"}]},
                ),
                Say("all done"),
            ],
            "count the trams": [Say("28 trams")],
            "count the trains": [Say("3 trains")],
        }
    )
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("all done"))
        [heard] = cast.heard["go"]
        assert heard.index("28 trams") < heard.index("3 trains")
        assert "Worker 1 of 2 is done: count the trams" in heard
        trams, trains = await workers_of(bot)
        assert (trams.kind, trams.state, trams.result) == ("worker", TurnState.DONE, "28 trams")
        assert event_from_json(trains.event_json).worker is not None
        texts = [message.text.text for message in bot.channel.messages if message.text]
        assert texts == ["all done"], "a worker shows nothing in the chat"


async def test_a_worker_gets_tools_of_its_callers_alone_and_never_clarify(
    tmp_path: Path, free: Config, says: Says
) -> None:
    cast = Cast(
        {
            "go": [
                CallTool(
                    "delegate_task",
                    {"goal": "all of them"},
                    also=(CallTool("delegate_task", {"goal": "a few", "tools": ["bash", "read_file"]}),),
                ),
                Say("done"),
            ],
            "all of them": [Say("a")],
            "a few": [CallTool("delegate_task", {"goal": "wider", "tools": ["write_file"]}), Say("b")],
        }
    )
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("done"))
        assert cast.offered["all of them"] == cast.offered["go"] - {"clarify"}
        assert cast.offered["a few"] == {"exec", "read_file"}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"goal": "x", "tools": ["telepathy"]}, "telepathy is none of these"),
        ({"goal": "x", "tools": ["write_file"]}, "write_file is none of these"),
        ({"goal": "x", "tools": ["clarify"]}, "nobody answers a worker"),
        ({"goal": "x", "tasks": ["y"]}, "either one goal or a list of tasks"),
        ({"tasks": []}, "tasks is empty"),
        ({"tasks": ["a", " "]}, "task 2 has no goal"),
        ({"tasks": ["a"] * 51}, "at most 50 tasks"),
        ({"tasks": [{"goal": "a", "telly": 1}]}, "tasks.0.telly is not a parameter"),
    ],
)
async def test_a_task_that_cannot_be_given_starts_no_worker(
    tmp_path: Path, free: Config, says: Says, args: dict[str, object], words: str
) -> None:
    cast = Cast({"go": [CallTool("delegate_task", args), Say("done")]})
    config = free | {"tools.deny": ["write_file"]}
    async with running_bot(tmp_path, config, model=cast.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("done"))
        assert words in cast.heard["go"][0]
        assert await workers_of(bot) == []


async def test_a_call_that_needs_a_person_is_refused_at_once_and_the_caller_hears_of_it(
    tmp_path: Path, local: Config, says: Says, is_open: Callable[[FakeMessage], bool]
) -> None:
    cast = Cast(
        {
            "go": [CallTool("delegate_task", {"goal": "list it"}), Say("done")],
            "list it": [CallTool("exec", {"command": "touch made"}), Say("I could not.")],
        }
    )
    async with running_bot(tmp_path, local, model=cast.model) as bot:
        await bot.channel.say("go")
        card = await bot.channel.wait_for(is_open)
        assert card.card is not None
        assert card.card.title.startswith("Start a worker?")
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(says("done"))
        [heard] = cast.heard["go"]
        assert "I could not." in heard
        assert "Refused in this worker:\n- exec was not run: a worker cannot ask a person" in heard
        assert len(bot.channel.cards) == 1
        assert not (bot.workspace / "made").exists()


async def test_what_the_requester_granted_counts_in_a_worker_too(
    tmp_path: Path, local: Config, says: Says, is_open: Callable[[FakeMessage], bool]
) -> None:
    command = {"command": "echo x >> made"}
    cast = Cast(
        {
            "first": [CallTool("exec", command), Say("one")],
            "go": [CallTool("delegate_task", {"goal": "again"}), Say("two")],
            "again": [CallTool("exec", command), Say("I did.")],
        }
    )
    async with running_bot(tmp_path, local, model=cast.model) as bot:
        await bot.channel.say("first")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("For this session")
        await bot.channel.wait_for(says("one"))
        await bot.channel.say("go")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("Approve once")
        await bot.channel.wait_for(says("two"))
        assert (bot.workspace / "made").read_text() == "x\nx\n"


def test_a_channel_cannot_say_that_a_message_is_a_workers() -> None:
    event = InboundEvent(EventId("1"), EventType.MESSAGE, "telegram", "1", "1", datetime.now(UTC))
    brief = WorkerBrief(("exec",), 1, 5, TurnId("t"), "1.0", "x")
    assert without_trust(replace(event, worker=brief)) == event


async def test_depth_ends_where_the_configuration_says_and_the_sentence_names_the_key(
    tmp_path: Path, free: Config, says: Says
) -> None:
    def delegating(goal: str) -> list[CallTool | Say]:
        return [CallTool("delegate_task", {"goal": goal}), Say("up")]

    cast = Cast(
        {
            "go": delegating("level one"),
            "level one": delegating("level two"),
            "level two": delegating("level three"),
        }
    )
    async with running_bot(tmp_path, free | {"workers.max_depth": 2}, model=cast.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("up"))
        assert "workers.max_depth is 2" in cast.heard["level two"][0]
        assert len(await workers_of(bot)) == 2


async def test_a_worker_over_its_limit_or_with_a_failing_model_says_how_it_ended(
    tmp_path: Path, free: Config, says: Says
) -> None:
    looking = CallTool("list_dir", {"path": "."}, say="still looking")
    cast = Cast(
        {
            "go": [CallTool("delegate_task", {"tasks": ["forever", "broken"], "max_turns": 3}), Say("done")],
            "forever": [looking] * 9,
            "broken": [Fail(ValueError("no line"))],
        }
    )
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("done"))
        [heard] = cast.heard["go"]
        assert "Worker 1 of 2 did not get it done (over its limit: " in heard
        assert "still looking" in heard
        assert "ValueError: no line): broken" in heard
        assert "no worker got its task done" in heard
        forever, broken = await workers_of(bot)
        assert (forever.state, broken.state) == (TurnState.FAILED, TurnState.FAILED)


async def test_a_worker_in_the_background_brings_its_result_to_the_chat_and_to_the_next_turn(
    tmp_path: Path, free: Config, says: Says
) -> None:
    cast = Cast(
        {
            "go": [CallTool("spawn_task", {"task": "count", "context": "the trams"}), Say("it counts")],
            "count\n\nWhat you need to know for it:\nthe trams": [Say("28 trams")],
            "and?": [Say("as I said")],
        }
    )
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("it counts"))
        told = await bot.channel.wait_for(says("28 trams"))
        assert told.text is not None
        assert told.text.text.startswith("Worker in the background, done: count")
        [worker] = await workers_of(bot)
        assert worker.turn_id[:8] in cast.heard["go"][0]
        await eventually(lambda: not bot.parts.queues.total()[0], "the worker's turn is over")
        history = await bot.store.sessions.history(
            SessionKey("telegram:1"), 10, datetime(2000, 1, 1, tzinfo=UTC)
        )
        assert any("28 trams" in entry.messages_json for entry in history)


async def test_without_a_model_workers_are_not_ready_and_say_what_is_missing(
    tmp_path: Path, free: Config, says: Says
) -> None:
    async with running_bot(tmp_path, free) as bot:
        await bot.channel.say("/tool delegate_task goal=x")
        await bot.channel.wait_for(says("a worker needs a model: set models.default"))


async def test_a_direct_call_has_every_tool_to_give(tmp_path: Path, free: Config, says: Says) -> None:
    cast = Cast({"look around": [Say("nothing here")]})
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        await bot.channel.say('/tool delegate_task goal="look around"')
        await bot.channel.wait_for(says("nothing here"))
        assert "exec" in cast.offered["look around"]


async def test_long_answers_are_shown_by_their_ends_each_in_its_share_and_kept(
    tmp_path: Path, free: Config, says: Says
) -> None:
    cast = Cast(
        {
            "go": [
                CallTool(
                    "delegate_task",
                    {"tasks": ["long one", "long two"]},
                    also=(CallTool("spawn_task", {"task": "long three"}),),
                ),
                Say("that is all"),
            ],
            **{
                f"long {word}": [Say(f"{word} begins {'x' * 20_000} {word} ends")]
                for word in ("one", "two", "three")
            },
        }
    )
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("that is all"))
        heard = cast.heard["go"][0]
        assert len(heard) < 6500
        for word in ("one", "two"):
            assert f"{word} begins" in heard
            assert f"{word} ends" in heard
        kept = re.findall(r"read_spill path=(\S+)", heard)
        assert len(kept) == 2
        await bot.channel.say(f"/tool read_spill path={kept[1]} pattern=begins")
        await bot.channel.wait_for(says("two begins"))
        await bot.channel.wait_for(says("three ends"))
        assert sum(len(message.body) for message in bot.channel.messages) < 10_000


async def test_what_a_worker_sends_goes_to_its_callers_chat(tmp_path: Path, free: Config, says: Says) -> None:
    cast = Cast(
        {
            "go": [CallTool("delegate_task", {"goal": "greet"}), Say("done")],
            "greet": [CallTool("message", {"text": "hello from below"}), Say("greeted")],
        }
    )
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        await bot.channel.say("go", chat_id="77")
        told = await bot.channel.wait_for(says("hello from below"))
        assert told.ref.address.chat_id == "77"


async def test_a_worker_keeps_a_list_of_its_own(tmp_path: Path, free: Config, says: Says) -> None:
    mine = CallTool("todo", {"action": "set", "items": ["mine"]})
    cast = Cast(
        {
            "go": [
                mine,
                CallTool("delegate_task", {"goal": "plan"}),
                CallTool("todo", {"action": "list"}),
                Say("done"),
            ],
            "plan": [CallTool("todo", {"action": "set", "items": ["a", "b"]}), Say("planned")],
        }
    )
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("done"))
        assert cast.heard["go"][-1] == "[ ] 1. mine"


class Witness(Tool):
    """Keeps the contexts of its calls."""

    name = "witness"
    description = "Look."
    risk_level = "read_only"

    def __init__(self) -> None:
        self.seen: list[ToolExecutionContext] = []

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        assert ctx is not None
        self.seen.append(ctx)
        return ToolResult(True, output="seen")


async def test_a_tool_learns_that_a_worker_calls_it_and_for_whom(
    tmp_path: Path, free: Config, says: Says
) -> None:
    witness, look = Witness(), CallTool("witness")
    cast = Cast(
        {
            "go": [look, CallTool("delegate_task", {"goal": "look", "tools": ["witness"]}), Say("done")],
            "look": [look, Say("looked")],
        }
    )
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        bot.parts.toolbox.registry.add(witness, "this test")
        await bot.channel.say("go")
        await bot.channel.wait_for(says("done"))
    own, nested = witness.seen
    assert (own.agent_id, own.parent_execution_id) == ("main", None)
    assert nested.agent_id.startswith("worker:")
    assert nested.parent_execution_id
    assert nested.allowed_tools == {"witness"} < own.allowed_tools
    same = ("session_key", "memory_scope", "user_id", "channel", "chat_id", "unattended", "approval_source")
    assert [getattr(nested, name) for name in same] == [getattr(own, name) for name in same]
    assert nested.trace_id != own.trace_id
    assert nested.idempotency_key != own.idempotency_key
