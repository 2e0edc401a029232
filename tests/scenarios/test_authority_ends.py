"""Trust that is taken away counts at once: for what a job began, and over a restart for everybody's turns."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path

from echo_bot.events import (
    Address,
    BlockType,
    ContentBlock,
    CronAuthority,
    EventId,
    EventType,
    Identity,
    InboundEvent,
)
from echo_bot.inbox.incoming import without_trust
from echo_bot.scheduler.job import authorised, run_of, session_of
from echo_bot.session import event_from_json
from echo_bot.storage.job_record import JobRecord
from echo_bot.storage.records import TurnState
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.cast import Cast, Hold
from echo_bot.testing.clock import MovedClock
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import CallTool, Say
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Says = Callable[[str], Callable[[FakeMessage], bool]]

YEARS = {"channels.max_backlog_minutes": 60 * 24 * 1000}
JOB = "/tool cronjob action=create name=nightly schedule=@daily timezone=UTC instruction='go on'"


async def press_for(bot: RunningBot, words: str, told: str) -> None:
    before = len(bot.channel.messages)
    await bot.channel.say(words)
    await bot.channel.wait_for_button("Approve once")
    assert (await bot.channel.press("Approve once")).ok
    await bot.channel.wait_for(lambda m: told in m.body and bot.channel.messages.index(m) >= before, told)


async def begun(bot: RunningBot, clock: MovedClock, cast: Cast, part: str) -> JobRecord:
    """An authorised job that runs now, at which this part of it has begun."""
    await press_for(bot, JOB, "Made: ")
    [job] = await bot.store.jobs.list()
    assert job.authority is not None
    assert job.next_at is not None
    clock.move_to(job.next_at)
    bot.parts.scheduling.scheduler.wake()
    await eventually(lambda: part in cast.begun, part)
    return job


async def test_what_a_job_left_in_the_background_loses_its_authority_with_the_job(
    tmp_path: Path, local: Config, says: Says
) -> None:
    for how in ("revoke", "delete", "update"):
        clock, ready, folder = MovedClock(), asyncio.Event(), tmp_path / how
        folder.mkdir()
        touch = CallTool("write_file", {"path": "made", "content": "x"})
        cast = Cast(
            {
                "make it": [Hold(ready, touch), Say("tried")],
                "[This is a scheduled job": [CallTool("spawn_task", {"task": "make it"}), Say("NOTHING")],
            }
        )
        async with running_bot(folder, local | YEARS, clock=clock, model=cast.model) as bot:
            job = await begun(bot, clock, cast, "make it")

            async def is_over(bot: RunningBot = bot, job: JobRecord = job) -> bool:
                now = await bot.store.jobs.get(job.job_id)
                return now is not None and now.last.state == "done"

            while not await is_over():
                await asyncio.sleep(0.01)
            # Behind the scheduler's back, which would stop the worker too.
            now = await bot.store.jobs.get(job.job_id)
            assert now is not None
            match how:
                case "delete":
                    assert await bot.store.jobs.delete(job.job_id)
                case "revoke":
                    assert await bot.store.jobs.change(replace(now, authority=None))
                case _:
                    assert await bot.store.jobs.change(replace(now, instruction="other"))
            ready.set()
            await bot.channel.wait_for(says("tried"))
            assert not (bot.workspace / "made").exists(), how


async def test_it_keeps_it_as_long_as_the_job_does(tmp_path: Path, local: Config, says: Says) -> None:
    clock, ready = MovedClock(), asyncio.Event()
    touch = CallTool("write_file", {"path": "made", "content": "x"})
    cast = Cast(
        {
            "make it": [Hold(ready, touch), Say("tried")],
            "[This is a scheduled job": [CallTool("spawn_task", {"task": "make it"}), Say("NOTHING")],
        }
    )
    async with running_bot(tmp_path, local | YEARS, clock=clock, model=cast.model) as bot:
        await begun(bot, clock, cast, "make it")
        ready.set()
        await bot.channel.wait_for(says("tried"))
        assert (bot.workspace / "made").exists()


async def test_a_run_is_not_taken_up_again_for_a_job_that_was_deleted_meanwhile(
    tmp_path: Path, local: Config
) -> None:
    clock, ready = MovedClock(), asyncio.Event()
    touch = CallTool("write_file", {"path": "made", "content": "x"})
    cast = Cast({"[This is a scheduled job": [Hold(ready, touch), Say("made it")]})
    config = local | YEARS
    async with running_bot(tmp_path, config, clock=clock, model=cast.model) as bot:
        job = await begun(bot, clock, cast, "[This is a scheduled job")
        await bot.store.jobs.delete(job.job_id)
    ready.set()
    async with running_bot(tmp_path, config, clock=clock, model=cast.model) as bot:
        assert await bot.store.turns.unfinished() == ()
        assert bot.parts.queues.total() == (0, 0)
        assert not (bot.workspace / "made").exists()


async def test_nor_while_the_scheduler_is_switched_off(tmp_path: Path, local: Config) -> None:
    clock, ready = MovedClock(), asyncio.Event()
    cast = Cast({"[This is a scheduled job": [Hold(ready, Say("for the others"))]})
    config = local | YEARS
    async with running_bot(tmp_path, config, clock=clock, model=cast.model) as bot:
        await begun(bot, clock, cast, "[This is a scheduled job")
    ready.set()
    async with running_bot(tmp_path, config | {"scheduler.enabled": False}, clock=clock) as bot:
        assert await bot.store.turns.unfinished() == ()
        assert "for the others" not in str(bot.channel.texts)


async def test_turns_of_somebody_who_may_not_speak_any_more_do_not_go_on_after_a_restart(
    tmp_path: Path, local: Config
) -> None:
    async with running_bot(tmp_path, local) as bot:
        await bot.parts.pausing.pause(Identity("cli", "local"))
        await bot.channel.say("/tool write_file path=made content=x")
        [turn] = await bot.store.turns.unfinished()
    others = local | {"channels.telegram.allow_from": ["2"], "permissions.approval.approvers": []}
    async with running_bot(tmp_path, others) as bot:
        await bot.parts.pausing.resume()
        await eventually(lambda: bot.parts.queues.total() == (0, 0), "nothing waits")
        stored = await bot.store.turns.get(turn.turn_id)
        assert stored is not None
        assert stored.state is TurnState.STOPPED
        assert "may not use this bot any more" in stored.error
        assert not (bot.workspace / "made").exists()


async def test_a_worker_is_of_its_callers_sender_chat_and_trust(
    tmp_path: Path, local: Config, says: Says
) -> None:
    cast = Cast({"go": [CallTool("delegate_task", {"goal": "sub"}), Say("done")], "sub": [Say("x")]})
    async with running_bot(tmp_path, local, model=cast.model) as bot:
        at = datetime.now(UTC)
        here = Address("telegram", "1")
        job = JobRecord("j1", "j", "telegram:1", here, "", "@daily", "UTC", at, "go", here, at)
        await bot.store.jobs.add(authorised(job, by="telegram:1", at=at, approval_id="a1"))
        event = InboundEvent(
            event_id=EventId("job-1"),
            event_type=EventType.MESSAGE,
            channel="telegram",
            chat_id="1",
            sender_id="1",
            timestamp=datetime.now(UTC),
            content=(ContentBlock(BlockType.TEXT, "go"),),
            session_key_override="job:1",
            memory_scope="person:telegram:1",
            unattended=True,
            cron_authorized=True,
            authority=CronAuthority("j1", "a1"),
        )
        await bot.parts.inbox.submit(event)
        await bot.channel.wait_for(says("done"))
        [started] = await bot.store.audit.of_kind("worker_started")
        worker = await bot.store.turns.get(json.loads(started.body_json)["turn"])
        assert worker is not None
        inherited = event_from_json(worker.event_json)
        assert (inherited.unattended, inherited.cron_authorized) == (True, True)
        assert inherited.authority == event.authority
        assert (inherited.sender, inherited.address) == (event.sender, event.address)
        assert worker.memory_scope == "person:telegram:1"
        assert inherited.worker is not None
        conversation = await bot.store.turns.get(inherited.worker.origin)
        assert conversation is not None
        assert conversation.session_key == "job:1"


async def test_no_message_takes_the_place_of_a_run_that_is_to_come(tmp_path: Path, local: Config) -> None:
    clock = MovedClock()
    config = local | YEARS | {"channels.telegram.allow_from": ["1", "2"]}
    async with running_bot(tmp_path, config, clock=clock) as bot:
        made = "/tool write_file path=made content=x"
        await press_for(bot, JOB.replace("go on", made), "Made: ")
        [job] = await bot.store.jobs.list()
        assert job.next_at is not None
        run = run_of(job, job.next_at)
        await bot.channel.say("/tool list_dir path=.", event_id=run.event_id, sender_id="2", chat_id="2")
        await eventually(lambda: bot.parts.queues.total() == (0, 0), "the end of the message")
        clock.move_to(job.next_at)
        bot.parts.scheduling.scheduler.wake()
        await eventually((bot.workspace / "made").exists, "the job's run")


async def test_what_a_job_left_running_ends_with_its_authority(tmp_path: Path, local: Config) -> None:
    clock, never = MovedClock(), asyncio.Event()
    begin = CallTool("process", {"action": "start", "command": "sleep 1000"})
    cast = Cast(
        {
            "make it": [Hold(never, Say("x"))],
            "[This is a scheduled job": [
                begin,
                CallTool("spawn_task", {"task": "make it"}),
                Say("NOTHING"),
            ],
        }
    )
    async with running_bot(tmp_path, local | YEARS, clock=clock, model=cast.model) as bot:
        job = await begun(bot, clock, cast, "make it")
        [process] = bot.parts.toolbox.processes.of(session_of(job.job_id))
        assert process.is_running
        await press_for(bot, "/tool cronjob action=revoke name=nightly", "not authorised any more")
        await eventually(lambda: not process.is_running, "the end of the process")
        await eventually(lambda: bot.parts.queues.total() == (0, 0), "the end of the worker")
        assert await bot.store.turns.unfinished() == ()


def test_a_channel_sets_no_field_that_says_what_a_turn_may() -> None:
    names = [each.name for each in fields(InboundEvent)]
    ours = names[names.index("metadata") + 1 :]
    plain = InboundEvent(EventId("1"), EventType.MESSAGE, "telegram", "1", "1", datetime.now(UTC))
    claimed: dict[str, object] = dict.fromkeys(ours, "claimed")
    assert "authority" in ours
    assert without_trust(replace(plain, **claimed)) == plain  # type: ignore[arg-type]  # wrong on purpose
