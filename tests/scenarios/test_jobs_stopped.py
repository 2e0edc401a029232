"""/stop where a job answers ends its run, for its owner and admins; what a job left behind ends with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from echo_bot.events import Address, Identity
from echo_bot.scheduler.job import authorised, following, session_of
from echo_bot.storage.job_record import JobRecord, JobState
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.cast import Cast, Hold
from echo_bot.testing.clock import MovedClock
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import CallTool, Say
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Says = Callable[[str], Callable[[FakeMessage], bool]]

WAITS = "/run echo run >> runs; sleep 60"


@pytest.fixture
def calm(local: Config) -> Config:
    """Three people may speak; the first is an admin. Messages stay new while the clock is moved by days."""
    return local | {
        "channels.max_backlog_minutes": 60 * 24 * 1000,
        "channels.telegram.allow_from": ["1", "2", "3"],
        "permissions.elevated.enabled": True,
        "permissions.elevated.allow_from": {"telegram": ["2", "3"]},
    }


def job(clock: MovedClock, **changes: object) -> JobRecord:
    """An authorised daily job of person 2 that answers in the group -7."""
    now = clock()
    bare = JobRecord(
        job_id="j1",
        name="wait",
        owner=str(Identity("telegram", "2")),
        origin=Address("telegram", "-7"),
        memory_scope="person:telegram:2",
        schedule="@daily",
        zone="UTC",
        set_at=now,
        instruction=WAITS,
        target=Address("telegram", "-7"),
        created_at=now,
    )
    changed = replace(bare, **changes)  # type: ignore[arg-type]
    planned = replace(changed, next_at=following(changed, now))
    return authorised(planned, by="telegram:1", at=now, approval_id="a")


def runs(bot: RunningBot) -> int:
    path = bot.workspace / "runs"
    return len(path.read_text().splitlines()) if path.exists() else 0


async def begin(bot: RunningBot, clock: MovedClock, *jobs: JobRecord) -> None:
    """Add the jobs and let their time come."""
    for each in jobs:
        await bot.store.jobs.add(each)
    assert jobs[0].next_at is not None
    clock.move_to(jobs[0].next_at)
    bot.parts.scheduling.scheduler.wake()


async def stored(bot: RunningBot, job_id: str = "j1") -> JobRecord:
    found = await bot.store.jobs.get(job_id)
    assert found is not None
    return found


async def is_over(bot: RunningBot, job_id: str = "j1") -> JobRecord:
    async with asyncio.timeout(20):
        while (found := await stored(bot, job_id)).last.state in ("", "running"):
            await asyncio.sleep(0.01)
        return found


async def say_stop(bot: RunningBot, says: Says, sender: str, chat: str, answer: str) -> None:
    before = len(bot.channel.messages)
    await bot.channel.say("/stop", sender_id=sender, chat_id=chat, is_group=chat != sender, mentioned=True)
    await bot.channel.wait_for(
        lambda m: says(answer)(m) and bot.channel.messages.index(m) >= before, f"{answer} to {sender}"
    )


async def test_its_owner_stops_it_where_it_answers_and_it_comes_again(
    tmp_path: Path, calm: Config, says: Says
) -> None:
    clock = MovedClock()
    async with running_bot(tmp_path, calm, clock=clock) as bot:
        await begin(bot, clock, job(clock))
        await eventually(lambda: runs(bot) == 1, "the command")
        await say_stop(bot, says, "2", "-7", "Stopped 1 job.")
        over = await is_over(bot)
        assert (over.last.state, over.state, over.failures) == ("stopped", JobState.ACTIVE, 0)
        assert over.next_at is not None
        clock.move_to(over.next_at)
        bot.parts.scheduling.scheduler.wake()
        await eventually(lambda: runs(bot) == 2, "the next run")


@pytest.mark.parametrize(
    ("sender", "chat"),
    [("3", "-7"), ("2", "2"), ("1", "1")],
    ids=["somebody else where it answers", "its owner elsewhere", "an admin elsewhere"],
)
async def test_it_is_left_alone_by(tmp_path: Path, calm: Config, says: Says, sender: str, chat: str) -> None:
    clock = MovedClock()
    async with running_bot(tmp_path, calm, clock=clock) as bot:
        await begin(bot, clock, job(clock))
        await eventually(lambda: runs(bot) == 1, "the command")
        await say_stop(bot, says, sender, chat, "Nothing is running here.")
        assert (await stored(bot)).is_running
        assert bot.parts.queues.total() == (1, 0)


async def test_an_admin_stops_it_where_it_answers(tmp_path: Path, calm: Config, says: Says) -> None:
    clock = MovedClock()
    async with running_bot(tmp_path, calm, clock=clock) as bot:
        await begin(bot, clock, job(clock))
        await eventually(lambda: runs(bot) == 1, "the command")
        await say_stop(bot, says, "1", "-7", "Stopped 1 job.")
        assert (await is_over(bot)).last.state == "stopped"


async def test_a_run_that_waits_for_its_place_never_begins(tmp_path: Path, calm: Config, says: Says) -> None:
    clock = MovedClock()
    async with running_bot(tmp_path, calm | {"scheduler.max_parallel": 1}, clock=clock) as bot:
        elsewhere = Address("telegram", "2")
        first = job(clock, target=elsewhere, origin=elsewhere)
        await begin(bot, clock, first, job(clock, job_id="j2", name="second"))
        await eventually(lambda: runs(bot) == 1, "the first command")
        async with asyncio.timeout(20):
            while not (await stored(bot, "j2")).is_running:
                await asyncio.sleep(0.01)
        await say_stop(bot, says, "2", "-7", "Stopped 1 job.")
        await say_stop(bot, says, "2", "2", "Stopped 1 job.")
        assert (await is_over(bot, "j2")).last.state == "stopped"
        assert runs(bot) == 1


async def test_what_it_left_in_the_background_is_stopped_as_well(
    tmp_path: Path, calm: Config, says: Says
) -> None:
    clock, never = MovedClock(), asyncio.Event()
    cast = Cast(
        {
            "make it": [Hold(never, Say("x"))],
            "[This is a scheduled job": [CallTool("spawn_task", {"task": "make it"}), Say("NOTHING")],
        }
    )
    async with running_bot(tmp_path, calm, clock=clock, model=cast.model) as bot:
        await begin(bot, clock, job(clock, instruction="go on"))
        await eventually(lambda: "make it" in cast.begun, "the worker")
        assert (await is_over(bot)).last.state == "done"
        await say_stop(bot, says, "2", "-7", "Stopped 1 job.")
        await eventually(lambda: bot.parts.queues.total() == (0, 0), "the end of the worker")
        await say_stop(bot, says, "2", "-7", "Nothing is running here.")


async def test_status_lists_it_to_its_owner_where_it_answers_and_to_admins(
    tmp_path: Path, calm: Config
) -> None:
    clock = MovedClock()
    async with running_bot(tmp_path, calm, clock=clock) as bot:
        await begin(bot, clock, job(clock))
        await eventually(lambda: runs(bot) == 1, "the command")
        due = (await stored(bot)).last.due
        assert due is not None
        line = f"- Job `wait` (id j1) runs, due {due:%Y-%m-%d %H:%M} UTC"
        seen = {
            (who, where): line
            in (await bot.channel.command("/status", sender_id=who, chat_id=where)).text.splitlines()
            for who, where in (("2", "-7"), ("2", "2"), ("3", "-7"), ("1", "1"))
        }
        assert seen == {("2", "-7"): True, ("2", "2"): False, ("3", "-7"): False, ("1", "1"): True}
        await bot.channel.command("/stop", sender_id="2", chat_id="-7")
        await is_over(bot)
        assert line not in (await bot.channel.command("/status", sender_id="1", chat_id="1")).text


async def test_a_fresh_conversation_leaves_it_alone(tmp_path: Path, calm: Config, says: Says) -> None:
    clock = MovedClock()
    async with running_bot(tmp_path, calm, clock=clock) as bot:
        await begin(bot, clock, job(clock))
        await eventually(lambda: runs(bot) == 1, "the command")
        await bot.channel.say("/new", sender_id="2", chat_id="-7", is_group=True, mentioned=True)
        await bot.channel.wait_for(says("A fresh conversation."))
        assert (await stored(bot)).is_running


def without_authority(found: JobRecord) -> JobRecord:
    return replace(found, authority=None)


def by_another_press(found: JobRecord) -> JobRecord:
    return authorised(found, by="telegram:1", at=found.created_at, approval_id="b")


def switched_off(found: JobRecord) -> JobRecord:
    return replace(found, state=JobState.DISABLED, next_at=None, note="its owner may not")


@pytest.mark.parametrize("change", [None, without_authority, by_another_press, switched_off])
async def test_processes_that_a_job_started_end_with_it(
    tmp_path: Path, calm: Config, change: Callable[[JobRecord], JobRecord] | None
) -> None:
    clock = MovedClock()
    async with running_bot(tmp_path, calm, clock=clock) as bot:
        start = "/tool process action=start command='sleep 1000'"
        await begin(bot, clock, job(clock, instruction=start))
        assert (await is_over(bot)).last.state == "done"
        [process] = bot.parts.toolbox.processes.of(session_of("j1"))
        assert process.is_running
        if change is None:
            assert await bot.store.jobs.delete("j1")
        else:
            assert await bot.store.jobs.change(change(await stored(bot)))
        bot.parts.scheduling.scheduler.wake()
        await eventually(lambda: not process.is_running, "the end of the process")


async def test_what_a_job_without_an_authorisation_left_behind_ends_when_it_is_deleted(
    tmp_path: Path, calm: Config
) -> None:
    clock, never = MovedClock(), asyncio.Event()
    start = CallTool("process", {"action": "start", "command": "sleep 1000"})
    cast = Cast(
        {
            "make it": [Hold(never, Say("x"))],
            "[This is a scheduled job": [
                start,
                CallTool("spawn_task", {"task": "make it"}),
                Say("NOTHING"),
            ],
        }
    )
    allowed = calm | {
        "permissions.approval.unattended_policy": "allow_safe",
        "permissions.approval.allowlist": [
            {"tool": "process", "args": {"action": "start", "command": "sleep 1000"}},
            {"tool": "spawn_task", "args": {"task": "make it"}},
        ],
    }
    async with running_bot(tmp_path, allowed, clock=clock, model=cast.model) as bot:
        await begin(bot, clock, without_authority(job(clock, instruction="go on")))
        await eventually(lambda: "make it" in cast.begun, "the worker")
        assert (await is_over(bot)).last.state == "done"
        [process] = bot.parts.toolbox.processes.of(session_of("j1"))
        assert await bot.store.jobs.delete("j1")
        bot.parts.scheduling.scheduler.wake()
        await eventually(lambda: not process.is_running, "the end of the process")
        await eventually(lambda: bot.parts.queues.total() == (0, 0), "the end of the worker")
