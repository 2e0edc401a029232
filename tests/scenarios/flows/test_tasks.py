"""Tasks: whose they are, how they go on, and what starts by itself once, with nobody there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from echo_bot.events import TurnId
from echo_bot.flows.events import task_event
from echo_bot.session import event_from_json, turn_id_of
from echo_bot.storage.flow_records import TaskRecord, TaskState
from echo_bot.storage.records import TurnRecord, TurnState
from echo_bot.storage.store import SqlStore, open_store
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.cast import Cast, Hold
from echo_bot.testing.clock import MovedClock
from echo_bot.testing.fake_channel import FakeChannel
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Hand = Callable[..., Any]
BOTH = {"channels.telegram.allow_from": ["1", "2"]}


@pytest.fixture
def calm(local: Config) -> Config:
    """The clock is moved by hours, and messages are still new."""
    return local | {"channels.max_backlog_minutes": 60 * 24 * 1000}


async def only(store: SqlStore) -> TaskRecord:
    [task] = await store.tasks.list(None, 10)
    return task


async def until(store: SqlStore, state: TaskState) -> TaskRecord:
    while (task := await only(store)).state is not state:
        await asyncio.sleep(0.01)
    return task


async def bot_turn(folder: Path, turn_id: TurnId) -> TurnRecord | None:
    store = await open_store(f"sqlite+aiosqlite:///{folder / 'state' / 'echo-bot.db'}")
    try:
        return await store.turns.get(turn_id)
    finally:
        await store.close()


def come(bot: RunningBot, clock: MovedClock, **by: float) -> None:
    clock.move(**by)
    bot.parts.flows.timers.wake()


async def test_a_task_goes_from_open_to_its_end_and_back(tmp_path: Path, local: Config, hand: Hand) -> None:
    async with running_bot(tmp_path, local) as bot:
        me = hand(bot)
        assert (await me.call("task", action="list")) == "There are no such tasks."
        created = await me.call("task", action="create", title="Water the plants", notes="The fern too")
        task_id = (await only(bot.store)).task_id
        assert created == f"Created: {task_id} Water the plants (open)"

        async def act(action: str, **more: object) -> str:
            return str(await me.call("task", action=action, id=task_id, **more))

        assert "notes: The fern too" in await act("get")
        assert "(started)" in await act("start")
        assert f"task {task_id} is started; start is for one that is open" in await act("start")
        assert "(failed): no can" in await act("fail", result="no can")
        assert "complete is for one that is open or started" in await act("complete")
        assert "(open)" in await act("retry")
        assert "(done): all green" in await act("complete", result="all green")
        assert "cancel is for one that is open or started" in await act("cancel")
        assert task_id in await me.call("task", action="list", state="done")
        assert task_id not in await me.call("task", action="list", state="open")
        assert "there is no task 'other'" in await me.call("task", action="get", id="other")


async def test_a_task_is_seen_and_changed_by_its_owner_and_admins_alone(
    tmp_path: Path, local: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, local | BOTH) as bot:
        owner, admin = hand(bot, "2", "2"), hand(bot, "1", "1")
        await owner.call("task", action="create", title="Mine")
        mine = (await only(bot.store)).task_id
        assert mine not in await admin.call("task", action="list")
        assert f"{mine} Mine (open), of telegram:2" in await admin.call("task", action="list", all=True)
        assert "only its owner schedules it" in await admin.call(
            "task", action="start", id=mine, start_at="in 2 hours"
        )
        assert "(cancelled)" in await admin.call("task", action="cancel", id=mine)
        await admin.call("task", action="create", title="Other")
        [other] = await bot.store.tasks.list("telegram:1", 10)
        for action in ("get", "start", "complete", "fail", "cancel", "retry"):
            assert "there is no task" in await owner.call("task", action=action, id=other.task_id)
        assert "only an admin" in await owner.call("task", action="list", all=True)


async def test_at_its_time_the_chat_is_told_once(tmp_path: Path, calm: Config, hand: Hand) -> None:
    clock, channel = MovedClock(), FakeChannel("telegram")
    async with running_bot(tmp_path, calm, clock=clock, channel=channel) as bot:
        me = hand(bot)
        said = await me.call(
            "task", action="create", title="Call Bo", notes="About trams", start_at="in 2 hours"
        )
        assert ", starts " in said
        come(bot, clock, hours=1)
        assert (await only(bot.store)).state is TaskState.OPEN
    async with running_bot(tmp_path, calm, clock=clock, channel=channel) as bot:
        come(bot, clock, hours=2)
        told = await bot.channel.wait_for_text("It is time: Call Bo")
        assert told.body.endswith("\n\nAbout trams")
        await until(bot.store, TaskState.STARTED)
    async with running_bot(tmp_path, calm, clock=clock, channel=channel) as bot:
        come(bot, clock, hours=2)
        await hand(bot).call("task", action="list")
        assert sum("It is time" in text for text in channel.texts) == 1


async def test_an_instruction_is_followed_with_nobody_there(tmp_path: Path, calm: Config, hand: Hand) -> None:
    clock = MovedClock()
    model = ScriptedModel(
        [CallTool("exec", {"command": "touch made"}), CallTool("list_dir", {"path": "."}), Say("I looked.")]
    )
    async with running_bot(tmp_path, calm, clock=clock, model=model.model) as bot:
        me = hand(bot)
        await me.call("task", action="create", title="Look", instruction="Look around", start_at="in 1 hour")
        come(bot, clock, hours=2)
        await bot.channel.wait_for_text("I looked.")
        task = await until(bot.store, TaskState.DONE)
        assert "It is time for task" in str(model.seen[0])
        assert "Look around" in str(model.seen[0])
        assert "unattended" in str(model.seen[1])
        assert not (bot.workspace / "made").exists()
        assert bot.channel.cards == []
        assert task.starts == 1


async def test_a_started_turn_is_unattended_whatever_the_turn_was_that_scheduled_it(
    tmp_path: Path, calm: Config, hand: Hand
) -> None:
    clock, model = MovedClock(), ScriptedModel([CallTool("task", {"action": "list"}), Say("done")])
    async with running_bot(tmp_path, calm, clock=clock, model=model.model) as bot:
        await hand(bot).call("task", action="create", title="x", instruction="y", start_at="in 1 hour")
        kept = event_from_json((await only(bot.store)).event_json)
        assert (kept.unattended, kept.cron_authorized) == (False, False)
        come(bot, clock, hours=2)
        while not (turn_id := (await only(bot.store)).turn_id):
            await asyncio.sleep(0.01)
        turn = await bot.store.turns.get(turn_id)
        assert turn is not None
        event = event_from_json(turn.event_json)
        assert (event.unattended, event.cron_authorized, str(event.sender)) == (True, False, "telegram:1")
        assert turn.session_key.startswith("task:")


async def test_a_start_that_was_claimed_before_a_crash_happens_once_after_it(
    tmp_path: Path, calm: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, calm) as bot:
        await hand(bot).call("task", action="create", title="x", instruction="/run id", start_at="in 1 hour")
        task = await only(bot.store)
        turn_id = turn_id_of(task_event(task, event_from_json(task.event_json)))
        claimed = replace(task, state=TaskState.STARTED, start_at=None, starts=1, turn_id=turn_id)
        assert await bot.store.tasks.change(task, claimed)
    for _ in range(2):
        async with running_bot(tmp_path, calm) as bot:
            await until(bot.store, TaskState.DONE)
    turn = await bot_turn(tmp_path, turn_id)
    assert turn is not None
    assert turn.state is TurnState.DONE


async def test_and_not_for_somebody_who_may_not_use_the_bot_any_more(
    tmp_path: Path, calm: Config, hand: Hand
) -> None:
    async with running_bot(tmp_path, calm | BOTH) as bot:
        mine = hand(bot, "2", "2")
        await mine.call("task", action="create", title="x", instruction="/run id", start_at="in 1 hour")
        task = await only(bot.store)
        turn_id = turn_id_of(task_event(task, event_from_json(task.event_json)))
        claimed = replace(task, state=TaskState.STARTED, start_at=None, starts=1, turn_id=turn_id)
        assert await bot.store.tasks.change(task, claimed)
    async with running_bot(tmp_path, calm) as bot:
        await until(bot.store, TaskState.FAILED)
    assert await bot_turn(tmp_path, turn_id) is None


async def test_nothing_starts_for_somebody_who_may_not_use_the_bot_any_more(
    tmp_path: Path, calm: Config, hand: Hand
) -> None:
    clock = MovedClock()
    async with running_bot(tmp_path, calm | BOTH, clock=clock) as bot:
        await hand(bot, "2", "2").call("task", action="create", title="x", start_at="in 1 hour")
    async with running_bot(tmp_path, calm, clock=clock) as bot:
        come(bot, clock, hours=2)
        task = await until(bot.store, TaskState.FAILED)
        assert task.result == "its owner may not use this bot any more"
        assert bot.channel.messages == []


async def test_while_everything_is_paused_nothing_starts(tmp_path: Path, calm: Config, hand: Hand) -> None:
    clock = MovedClock()
    async with running_bot(tmp_path, calm, clock=clock) as bot:
        await hand(bot).call("task", action="create", title="Later", start_at="in 1 hour")
        await bot.channel.say("/pause")
        await bot.channel.wait_for_text("Everything is paused")
        come(bot, clock, hours=2)
        await bot.channel.say("/tasks")
        await bot.channel.wait_for_text("`Later` – open, starts ")
        await bot.channel.say("/resume")
        await bot.channel.wait_for_text("It is time: Later")


async def test_cancelling_a_task_stops_the_turn_that_works_at_it(
    tmp_path: Path, calm: Config, hand: Hand
) -> None:
    clock = MovedClock()
    config = calm | {"permissions.approval.unattended_policy": "allow_safe"}
    config |= {"permissions.approval.allowlist": [{"tool": "exec", "args": {"command": "sleep 60"}}]}
    async with running_bot(tmp_path, config, clock=clock) as bot:
        me = hand(bot)
        await me.call("task", action="create", title="x", instruction="/run sleep 60", start_at="in 1 hour")
        come(bot, clock, hours=2)
        task = await until(bot.store, TaskState.STARTED)
        while not any(each.kind == "call" for each in await bot.store.turns.journal(task.turn_id)):
            await asyncio.sleep(0.01)
        assert "(cancelled)" in await me.call("task", action="cancel", id=task.task_id)
        stopped = await bot.store.turns.get(task.turn_id)
        assert stopped is not None
        assert stopped.state is TurnState.STOPPED


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"action": "create"}, "title is 1 to 200 characters"),
        ({"action": "create", "title": "x", "instruction": "y"}, "instruction is what happens at start_at"),
        (
            {"action": "create", "title": "x", "start_at": "soon"},
            "start_at: 'soon' is no time: write 'in 20 minutes'",
        ),
        (
            {"action": "create", "title": "x", "start_at": "@daily"},
            "start_at: '@daily' comes again and again",
        ),
        ({"action": "create", "title": "x", "start_at": "2020-01-01 09:00"}, "is in the past"),
        ({"action": "get"}, "id is missing: which task to get"),
        ({"action": "create", "title": "x", "due": "y"}, "due is not a parameter"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_cannot_be_done_is_told(
    tmp_path: Path, local: Config, hand: Hand, params: dict[str, object], why: str
) -> None:
    async with running_bot(tmp_path, local) as bot:
        assert why in await hand(bot).call("task", **params)


async def test_stop_in_its_chat_stops_what_works_at_a_task(tmp_path: Path, calm: Config, hand: Hand) -> None:
    clock = MovedClock()
    cast = Cast({"[It is time for task": [Hold(asyncio.Event(), Say("x"))]})
    async with running_bot(tmp_path, calm | BOTH, model=cast.model, clock=clock) as bot:
        await hand(bot).call("task", action="create", title="x", instruction="go", start_at="in 1 hour")
        come(bot, clock, hours=2)
        await eventually(lambda: cast.begun, "the task's turn")
        elsewhere = await bot.channel.command("/stop", sender_id="2", chat_id="2")
        assert elsewhere.text == "Nothing is running here."
        assert (await bot.channel.command("/stop")).text == "Stopped 1 task."
        await until(bot.store, TaskState.CANCELLED)
        assert await bot.store.turns.unfinished() == ()
