"""Jobs over time: downtime, crashes, overlaps, pauses, clocks that jump; and what they may by then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from echo_bot.events import Address, Identity
from echo_bot.scheduler.job import authorised, event_of, following, run_of
from echo_bot.scheduler.runner import Scheduler, SchedulerSettings
from echo_bot.scheduler.runs import Runs
from echo_bot.storage.job_record import JobRecord, JobState
from echo_bot.storage.records import TurnState
from echo_bot.storage.store import SqlStore
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.clock import MovedClock
from echo_bot.testing.fake_channel import FakeChannel
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
OWNER = Identity("telegram", "1")


def job(clock: MovedClock, **changes: object) -> JobRecord:
    """An authorised daily job that counts its runs in a file."""
    now = clock()
    bare = JobRecord(
        job_id="j1",
        name="count",
        owner=str(OWNER),
        origin=Address("telegram", "1"),
        memory_scope="person:telegram:1",
        schedule="@daily",
        zone="UTC",
        set_at=now,
        instruction="/run echo run >> runs; wc -l < runs",
        target=Address("telegram", "1"),
        created_at=now,
    )
    changed = replace(bare, **changes)  # type: ignore[arg-type]
    planned = replace(changed, next_at=following(changed, now))
    return authorised(planned, by="telegram:1", at=now, approval_id="a")


@dataclass(frozen=True, slots=True)
class Scene:
    """One data folder over several runs of the bot."""

    folder: Path
    config: Config
    clock: MovedClock
    channel: FakeChannel

    @asynccontextmanager
    async def running(self, **config: object) -> AsyncIterator[RunningBot]:
        keys = self.config | {key.replace("__", "."): value for key, value in config.items()}
        async with running_bot(self.folder, keys, channel=self.channel, clock=self.clock) as bot:
            yield bot

    @asynccontextmanager
    async def stopped(self) -> AsyncIterator[SqlStore]:
        store = SqlStore(f"sqlite+aiosqlite:///{self.folder / 'state' / 'echo-bot.db'}")
        await store.open()
        yield store
        await store.close()

    @property
    def runs(self) -> int:
        path = self.folder / "workspace" / "runs"
        return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.fixture
def scene(tmp_path: Path, local: Config) -> Scene:
    return Scene(tmp_path, local, MovedClock(), FakeChannel("telegram"))


async def until(bot: RunningBot, is_so: Callable[[JobRecord], bool], job_id: str = "j1") -> JobRecord:
    """The job once it is so."""
    async with asyncio.timeout(20):
        while True:
            found = await bot.store.jobs.get(job_id)
            if found is not None and is_so(found):
                return found
            await asyncio.sleep(0.01)


def is_over(found: JobRecord) -> bool:
    return found.last.state not in ("", "running")


async def move_to_next(bot: RunningBot, clock: MovedClock, job_id: str = "j1") -> datetime:
    found = await bot.store.jobs.get(job_id)
    assert found is not None
    assert found.next_at is not None
    clock.move_to(found.next_at)
    bot.parts.scheduling.scheduler.wake()
    return found.next_at


async def test_what_was_missed_while_the_bot_was_off_runs_once_and_says_that_it_is_late(scene: Scene) -> None:
    async with scene.running() as bot:
        await bot.store.jobs.add(job(scene.clock))
    scene.clock.move(days=3)
    async with scene.running() as bot:
        over = await until(bot, is_over)
        await scene.channel.wait_for_text("(Late: this was due ")
        assert scene.runs == 1
        assert "this run is late" in over.last.note
        assert over.next_at is not None
        assert over.next_at > scene.clock()
        assert over.last.due is not None
        assert scene.clock() - over.last.due > timedelta(days=2)


async def test_what_was_missed_is_left_out_where_the_configuration_says_so(scene: Scene) -> None:
    async with scene.running() as bot:
        await bot.store.jobs.add(job(scene.clock))
        await bot.store.jobs.add(job(scene.clock, job_id="j2", name="tea", schedule="in 20 minutes"))
    scene.clock.move(days=3)
    async with scene.running(scheduler__missed_runs="skip") as bot:
        daily = await until(bot, lambda found: found.next_at is not None and found.next_at > scene.clock())
        tea = await until(bot, lambda found: found.state is JobState.DONE, "j2")
        assert (daily.last.state, tea.last.state) == ("", "")
        assert "missed and left out" in daily.last.note
        await move_to_next(bot, scene.clock)
        await until(bot, is_over)
        assert scene.runs == 1


async def test_a_claim_whose_turn_was_never_begun_runs_after_the_restart(scene: Scene) -> None:
    async with scene.running() as bot:
        made = job(scene.clock)
        await bot.store.jobs.add(made)
    async with scene.stopped() as store:
        assert made.next_at is not None
        scene.clock.move_to(made.next_at)
        run = run_of(made, made.next_at)
        assert await store.jobs.claim(made, run, following(made, made.next_at), JobState.ACTIVE)
    for _ in range(2):
        async with scene.running() as bot:
            over = await until(bot, is_over)
            assert (over.last.event_id, over.last.state) == (run.event_id, "done")
            assert scene.runs == 1


async def test_such_a_claim_is_left_out_later_where_what_is_missed_is_left_out(scene: Scene) -> None:
    async with scene.running() as bot:
        made = job(scene.clock)
        await bot.store.jobs.add(made)
    async with scene.stopped() as store:
        assert made.next_at is not None
        scene.clock.move_to(made.next_at + timedelta(hours=1))
        run = run_of(made, made.next_at)
        assert await store.jobs.claim(made, run, following(made, scene.clock()), JobState.ACTIVE)
    async with scene.running(scheduler__missed_runs="skip") as bot:
        over = await until(bot, is_over)
        assert (over.last.state, over.failures) == ("stopped", 0)
        assert "missed and left out" in over.last.error
        assert scene.runs == 0
        await move_to_next(bot, scene.clock)
        await eventually(lambda: scene.runs == 1, "the next run")


async def test_a_turn_that_ended_before_its_end_was_noted_is_not_run_again(scene: Scene) -> None:
    async with scene.running() as bot:
        made = job(scene.clock)
        await bot.store.jobs.add(made)
        assert made.next_at is not None
        run = run_of(made, made.next_at)
        claimed = replace(made, last=run)
        turn = await bot.parts.starter.start(event_of(claimed, made.instruction, lambda at: at), kind="job")
        assert (await bot.parts.starter.ended(turn.turn_id)).state is TurnState.DONE
    async with scene.stopped() as store:
        await store.jobs.claim(made, run, following(made, made.next_at), JobState.ACTIVE)
    async with scene.running() as bot:
        over = await until(bot, is_over)
        assert over.last.state == "done"
        assert scene.runs == 1


async def test_a_run_that_was_going_on_when_the_bot_stopped_is_of_unknown_outcome(scene: Scene) -> None:
    """It is told as a failure, and the command is not run again."""
    async with scene.running() as bot:
        await bot.store.jobs.add(job(scene.clock, instruction="/run echo run >> runs; sleep 60"))
        await move_to_next(bot, scene.clock)
        await eventually(lambda: scene.runs == 1, "the command")
    async with scene.running() as bot:
        over = await until(bot, is_over)
        assert over.last.state == "failed"
        assert "Outcome unknown" in over.last.error
        await scene.channel.wait_for_text("Outcome unknown")
        assert scene.runs == 1


async def test_a_run_that_still_goes_on_is_not_overtaken_by_the_next(scene: Scene) -> None:
    async with scene.running() as bot:
        waits = "/run echo run >> runs; while [ ! -e go ]; do sleep 0.02; done"
        await bot.store.jobs.add(job(scene.clock, instruction=waits))
        await move_to_next(bot, scene.clock)
        await eventually(lambda: scene.runs == 1, "the command")
        due = await move_to_next(bot, scene.clock)
        left = await until(bot, lambda found: found.next_at is not None and found.next_at > due)
        assert left.is_running
        assert "still going on" in left.last.note
        (bot.workspace / "go").touch()
        await until(bot, is_over)
        await move_to_next(bot, scene.clock)
        await eventually(lambda: scene.runs == 2, "the run after")


async def test_no_more_jobs_than_allowed_run_at_once(scene: Scene) -> None:
    async with scene.running(scheduler__max_parallel=2) as bot:
        waits = "/run echo run >> runs; while [ ! -e go ]; do sleep 0.02; done"
        for each in ("j1", "j2", "j3"):
            await bot.store.jobs.add(job(scene.clock, job_id=each, name=each, instruction=waits))
        await move_to_next(bot, scene.clock)
        await until(bot, lambda found: found.is_running, "j3")
        await eventually(lambda: scene.runs == 2, "two commands")
        assert bot.parts.queues.total() == (2, 0)
        (bot.workspace / "go").touch()
        for each in ("j1", "j2", "j3"):
            await until(bot, is_over, each)
        assert scene.runs == 3


async def test_nothing_fires_while_everything_is_paused(scene: Scene) -> None:
    async with scene.running() as bot:
        await bot.store.jobs.add(job(scene.clock))
        await bot.parts.pausing.pause(OWNER)
        due = await move_to_next(bot, scene.clock)
        await bot.parts.scheduling.scheduler.look()
        held = await until(bot, lambda found: True)
        assert (held.next_at, held.last.state) == (due, "")
        await bot.parts.pausing.resume()
        await until(bot, is_over)
        assert scene.runs == 1


async def test_a_clock_that_is_set_back_runs_nothing_twice_and_goes_on(scene: Scene) -> None:
    async with scene.running() as bot:
        await bot.store.jobs.add(job(scene.clock))
        await move_to_next(bot, scene.clock)
        first = await until(bot, is_over)
        scene.clock.move(days=30)
        bot.parts.scheduling.scheduler.wake()
        late = await until(bot, lambda found: is_over(found) and found.last.due != first.last.due)
        assert scene.runs == 2
        scene.clock.move(days=-31)
        bot.parts.scheduling.scheduler.wake()
        near = scene.clock() + timedelta(days=1)
        await until(bot, lambda found: found.next_at is not None and found.next_at <= near)
        for again in (first.last.due, late.last.due):
            due = await move_to_next(bot, scene.clock)
            assert due == again
            await until(bot, lambda found, due=due: found.last.due == due and is_over(found))  # type: ignore[misc]
            assert scene.runs == 2
        await move_to_next(bot, scene.clock)
        await eventually(lambda: scene.runs == 3, "the next day's run")


async def test_a_deleted_or_revoked_job_runs_no_further(scene: Scene) -> None:
    async with scene.running() as bot:
        waits = "/run echo run >> runs; sleep 60"
        for each in ("j1", "j2"):
            await bot.store.jobs.add(job(scene.clock, job_id=each, name=each, instruction=waits))
        await move_to_next(bot, scene.clock)
        await eventually(lambda: scene.runs == 2, "both commands")
        running = await until(bot, lambda found: found.is_running)
        assert await bot.store.jobs.change(replace(running, authority=None))
        await bot.store.jobs.delete("j2")
        bot.parts.scheduling.scheduler.wake()
        assert (await until(bot, is_over)).last.state == "stopped"
        await eventually(lambda: bot.parts.queues.total() == (0, 0), "both turns' end")


async def test_a_revoked_job_does_not_go_on_with_its_authority_after_a_restart(scene: Scene) -> None:
    async with scene.running() as bot:
        await bot.store.jobs.add(job(scene.clock, instruction="/run echo run >> runs; sleep 60"))
        await move_to_next(bot, scene.clock)
        await eventually(lambda: scene.runs == 1, "the command")
    async with scene.stopped() as store:
        [left] = await store.jobs.list()
        assert await store.jobs.change(replace(left, authority=None))
    async with scene.running() as bot:
        assert (await until(bot, is_over)).last.state in ("stopped", "failed")
        assert scene.runs == 1


async def test_two_schedulers_on_one_store_run_an_occurrence_once(scene: Scene) -> None:
    async with scene.running() as bot:
        await bot.store.jobs.add(job(scene.clock))
        first = bot.parts.scheduling.scheduler
        second = Scheduler(
            SchedulerSettings("once", 10),
            bot.store.jobs,
            first._firing,
            bot.parts.pausing,
            asyncio.Event(),
            scene.clock,
            Runs(bot.parts.delivery.now),
        )
        due = await move_to_next(bot, scene.clock)
        await asyncio.gather(*(each.look() for each in (first, second) for _ in range(5)))
        over = await until(bot, is_over)
        await second.close()
        assert over.last.due == due
        assert scene.runs == 1


async def test_the_time_of_a_job_is_that_of_its_zone(scene: Scene) -> None:
    found = following(
        job(scene.clock, schedule="0 8 * * *", zone="Asia/Shanghai"), datetime(2026, 5, 1, tzinfo=UTC)
    )
    assert found == datetime(2026, 5, 2, 0, tzinfo=UTC)


async def test_the_job_of_somebody_who_may_not_chat_any_more_is_switched_off_and_told_once(
    scene: Scene,
) -> None:
    async with scene.running() as bot:
        await bot.store.jobs.add(job(scene.clock))
    async with scene.running(channels__telegram__allow_from=["2"]) as bot:
        await move_to_next(bot, scene.clock)
        off = await until(bot, lambda found: found.state is JobState.DISABLED)
        assert "may not use this bot any more" in off.note
        await scene.channel.wait_for_text("was switched off: its owner telegram:1 may not use")
        scene.clock.move(days=3)
        bot.parts.scheduling.scheduler.wake()
    async with scene.running(channels__telegram__allow_from=["2"]):
        assert scene.runs == 0
        assert len(scene.channel.messages) == 1


async def test_a_target_that_is_not_allowed_any_more_gets_nothing(scene: Scene) -> None:
    """Allowed by the list, or by the authorisation; without either the job is switched off."""
    target = Address("telegram", "-100")
    bare = replace(job(scene.clock, target=target), authority=None)
    direct = "/tool list_dir path=."
    async with scene.running(delivery__allowed_targets=["telegram:-100"]) as bot:
        await bot.store.jobs.add(replace(bare, instruction=direct))
        await move_to_next(bot, scene.clock)
        assert (await until(bot, is_over)).last.state == "done"
        await bot.store.jobs.add(replace(job(scene.clock, job_id="j2", target=target), name="kept"))
    async with scene.running() as bot:
        for each in ("j1", "j2"):
            await move_to_next(bot, scene.clock, each)
        off = await until(bot, lambda found: found.state is JobState.DISABLED)
        assert "neither this chat nor in delivery.allowed_targets" in off.note
        assert (await until(bot, is_over, "j2")).last.state == "done"
        told = await scene.channel.wait_for_text("was switched off")
        assert told.ref.address == Address("telegram", "1")


async def test_an_owner_who_is_not_elevated_any_more_runs_no_code_here(scene: Scene) -> None:
    async with scene.running() as bot:
        await bot.store.jobs.add(job(scene.clock))
    async with scene.running(permissions__admin_users=["telegram:2"]) as bot:
        await move_to_next(bot, scene.clock)
        failed = await until(bot, is_over)
        assert "telegram:1 is not elevated" in failed.last.error
        assert scene.runs == 0


async def test_messages_of_a_job_go_to_its_target_alone(scene: Scene) -> None:
    async with scene.running() as bot:
        words = "/tool message text=hello target={}"
        target = Address("telegram", "-100")
        for each, to in (("j1", "here"), ("j2", "telegram:-100"), ("j3", "telegram:-200")):
            said = job(scene.clock, job_id=each, name=each, instruction=words.format(to), target=target)
            await bot.store.jobs.add(authorised(said, by="telegram:1", at=scene.clock(), approval_id="a"))
        await move_to_next(bot, scene.clock)
        states = [(await until(bot, is_over, each)).last.state for each in ("j1", "j2", "j3")]
        assert states == ["done", "done", "failed"]
        said_at = [m.ref.address.chat_id for m in scene.channel.messages if m.body == "hello"]
        assert said_at == ["-100", "-100"]
