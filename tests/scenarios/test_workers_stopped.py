"""Workers while they run: places, progress, /status, /stop, pauses, and a caller that fails."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from echo_bot.delivery import status
from echo_bot.errors import StorageError
from echo_bot.events import TurnId
from echo_bot.storage.records import JournalEntry, TurnState
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.cast import Cast, Hold
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import CallTool, Say
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Says = Callable[[str], Callable[[FakeMessage], bool]]


@pytest.fixture
def free(local: Config) -> Config:
    """Nobody is asked."""
    return local | {"permissions.approval.mode": "off"}


async def ends(bot: RunningBot) -> dict[str, str]:
    """How each worker ended, by its turn."""
    rows = [json.loads(row.body_json) for row in await bot.store.audit.of_kind("worker_ended")]
    return {row["turn"]: row["state"] for row in rows}


async def states(bot: RunningBot) -> list[TurnState]:
    rows = await bot.store.audit.of_kind("worker_started")
    turns = [await bot.store.turns.get(TurnId(json.loads(row.body_json)["turn"])) for row in rows]
    return [turn.state for turn in turns if turn is not None]


async def test_stop_ends_the_turn_its_workers_and_theirs_at_once_and_says_how_many(
    tmp_path: Path, free: Config, says: Says
) -> None:
    never = asyncio.Event()
    cast = Cast(
        {
            "go": [CallTool("delegate_task", {"tasks": ["runs a command", "thinks", "leads"]})],
            "runs a command": [CallTool("exec", {"command": "touch began; sleep 60"})],
            "thinks": [Hold(never, Say("never"))],
            "leads": [CallTool("delegate_task", {"goal": "follows"})],
            "follows": [Hold(never, Say("never"))],
        }
    )
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        await bot.channel.say("go")
        await eventually(lambda: len(cast.begun) == 5, "everybody at work")
        await eventually((bot.workspace / "began").exists, "the command")
        begun = time.monotonic()
        await bot.channel.say("/stop")
        await bot.channel.wait_for(says("Stopped 1 turn and 4 workers."))
        assert time.monotonic() - begun < 5, "a second, and patience for a busy machine"
        assert await bot.store.turns.unfinished() == ()
        assert await states(bot) == [TurnState.STOPPED] * 4
        assert sorted((await ends(bot)).values()) == ["stopped"] * 4
        assert bot.parts.queues.total() == (0, 0)
        await bot.channel.say("/stop")
        await bot.channel.wait_for(says("Nothing is running here."))


async def test_status_lists_the_workers_of_this_chat_and_stop_ends_those_in_the_background(
    tmp_path: Path, free: Config, says: Says
) -> None:
    never = asyncio.Event()
    cast = Cast(
        {
            "go": [
                CallTool(
                    "spawn_task",
                    {"task": "watch the\ntrams"},
                    also=(CallTool("spawn_task", {"task": "wait"}),),
                ),
                Say("they are on it"),
            ],
            "watch the": [Hold(never, Say("never"))],
            "wait": [Hold(never, Say("never"))],
        }
    )
    config = free | {"workers.max_parallel": 1, "permissions.admin_users": []}
    config |= {"channels.telegram.allow_from": ["1", "2"]}
    async with running_bot(tmp_path, config, model=cast.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("they are on it"))
        await eventually(lambda: len(cast.begun) == 2, "a worker with a place")
        await bot.channel.say("/status")
        told = await bot.channel.wait_for(says("This chat: idle"))
        assert told.text is not None
        lines = sorted(line.split(", since")[0] for line in told.text.text.splitlines()[-2:])
        works = "watch the trams" if "watch the" in cast.begun else "wait"
        waits = "wait" if works != "wait" else "watch the trams"
        assert lines == sorted([f"- Worker `{works}` works", f"- Worker `{waits}` waits"])
        await bot.channel.say("/status", chat_id="2", sender_id="2")
        other = await bot.channel.wait_for(
            lambda message: message.ref.address.chat_id == "2" and message.text is not None
        )
        assert "Worker" not in other.body
        await bot.channel.say("/stop", chat_id="2", sender_id="2")
        await bot.channel.wait_for(says("Nothing is running here."))
        await bot.channel.say("/stop")
        await bot.channel.wait_for(says("Stopped 2 workers."))
        assert await bot.store.turns.unfinished() == ()


async def test_the_callers_status_line_tells_what_its_workers_do_and_its_stop_ends_them(
    tmp_path: Path, free: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status, "_SHOWN_AFTER_SECONDS", 0.05)
    monkeypatch.setattr(status, "_BETWEEN_SECONDS", 0.05)
    never = asyncio.Event()
    cast = Cast(
        {
            "go": [CallTool("delegate_task", {"tasks": ["leads", "looks"]})],
            "leads": [CallTool("delegate_task", {"goal": "follows"})],
            "follows": [CallTool("exec", {"command": "sleep 60"})],
            "looks": [CallTool("list_dir", {"path": "."}), Hold(never, Say("never"))],
        }
    )
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        await bot.channel.say("go")
        line = await bot.channel.wait_for(
            lambda m: m.card is not None and m.card.card_id.startswith("status-")
        )
        assert line.card is not None
        assert "delegate_task is running" in line.card.title
        await eventually(lambda: "worker 1 of 2: worker 1 of 1: exec" in line.body, "a worker's worker")
        await eventually(lambda: "worker 2 of 2: list_dir" in line.body, "the second worker")
        assert len(bot.channel.cards) == 1, "workers have no lines of their own"
        assert (await bot.channel.press("Stop")).text == "Stopped 1 turn and 3 workers."
        await eventually(lambda: "was stopped after" in line.body, "its end")


async def test_no_more_work_at_once_than_configured_over_all_chats_and_none_is_dropped(
    tmp_path: Path, free: Config, says: Says
) -> None:
    goals = [f"task {chat}{number}" for chat in "ab" for number in range(8)]
    cast = Cast(
        {
            "go a": [CallTool("delegate_task", {"tasks": goals[:8]}), Say("a is done")],
            "go b": [CallTool("delegate_task", {"tasks": goals[8:]}), Say("b is done")],
            **{goal: [CallTool("list_dir", {"path": "."}), Say(f"did {goal}")] for goal in goals},
        }
    )
    config = free | {"workers.max_parallel": 2, "channels.telegram.allow_from": ["1", "2"]}
    async with running_bot(tmp_path, config, model=cast.model) as bot:
        await bot.channel.say("go a")
        await bot.channel.say("go b", chat_id="2", sender_id="2")
        for chat in "ab":
            await bot.channel.wait_for(says(f"{chat} is done"))
        for goal in goals:
            assert any(f"did {goal}" in heard for heard in cast.heard[f"go {goal[5]}"])
        order = [name[5] for name in cast.begun if name.startswith("task")]
        assert order.index("b") < 8, "the second chat's workers do not wait for all of the first one's"
        assert cast.most_at_once <= 2 + 2, "two workers, and two conversations that wait"


async def test_with_one_place_workers_of_workers_get_through(
    tmp_path: Path, free: Config, says: Says
) -> None:
    cast = Cast(
        {
            "go": [CallTool("delegate_task", {"tasks": ["left", "right"]}), Say("done")],
            **{
                side: [CallTool("delegate_task", {"tasks": [f"leaf of {side}"] * 3}), Say(side)]
                for side in ("left", "right")
            },
            "leaf of left": [Say("l")],
            "leaf of right": [Say("r")],
        }
    )
    async with running_bot(tmp_path, free | {"workers.max_parallel": 1}, model=cast.model) as bot:
        await bot.channel.say("go")
        await bot.channel.wait_for(says("done"))
        assert await states(bot) == [TurnState.DONE] * 8


async def test_while_a_chat_is_paused_new_workers_wait(tmp_path: Path, free: Config, says: Says) -> None:
    gate = asyncio.Event()
    cast = Cast(
        {
            "go": [Hold(gate, CallTool("delegate_task", {"goal": "a task"})), Say("done")],
            "a task": [Say("did it")],
        }
    )
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        await bot.channel.say("go")
        await eventually(lambda: cast.begun == ["go"], "the turn")
        await bot.channel.say("/pause here")
        await bot.channel.wait_for(says("is paused"))
        gate.set()
        while not await bot.store.audit.of_kind("worker_started"):
            await asyncio.sleep(0.01)
        assert cast.begun == ["go"]
        await bot.channel.say("/resume here")
        await bot.channel.wait_for(says("done"))


async def test_when_a_turn_fails_the_workers_it_waits_for_are_stopped_and_others_go_on(
    tmp_path: Path, free: Config, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    never, later = asyncio.Event(), asyncio.Event()
    cast = Cast(
        {
            "go": [
                CallTool(
                    "delegate_task",
                    {"goal": "awaited"},
                    also=(
                        CallTool("spawn_task", {"task": "background"}),
                        CallTool("todo", {"action": "list"}),
                    ),
                )
            ],
            "awaited": [Hold(never, Say("never"))],
            "background": [Hold(later, Say("28 trams"))],
        }
    )
    async with running_bot(tmp_path, free, model=cast.model) as bot:
        append = bot.store.turns.append

        async def failing(turn_id: TurnId, entry: JournalEntry) -> bool:
            if (entry.kind, entry.key) == ("result", "1.2"):
                await eventually(lambda: len(cast.begun) == 3, "the workers")
                raise StorageError("no room")
            return await append(turn_id, entry)

        monkeypatch.setattr(bot.store.turns, "append", failing)
        await bot.channel.say("go")
        await bot.channel.wait_for(says("Something went wrong"))
        while list((await ends(bot)).values()) != ["stopped"]:
            await asyncio.sleep(0.01)
        later.set()
        await bot.channel.wait_for(says("28 trams"))
        while len(await ends(bot)) < 2:
            await asyncio.sleep(0.01)
        assert sorted((await ends(bot)).values()) == ["done", "stopped"]
