"""The scheduler at work: it sleeps until a job is due, claims the occurrence and has it run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

import structlog

from echo_bot.errors import StorageError
from echo_bot.events import CronAuthority
from echo_bot.scheduler.firing import Firing
from echo_bot.scheduler.job import (
    LATE,
    authority_of,
    following,
    is_authorised,
    run_of,
    session_of,
    state_before,
)
from echo_bot.scheduler.runs import Run, Runs
from echo_bot.scheduler.words import moment_words
from echo_bot.scheduler.zones import zone_of
from echo_bot.session.pausing import Pausing
from echo_bot.storage.job_record import JobRecord, JobState
from echo_bot.storage.protocol import Jobs
from echo_bot.text.language import N_

log = structlog.get_logger(__name__)

_LONGEST_SLEEP = timedelta(seconds=60)
"""A suspended computer's clock jumps while sleeps stand still: look again this often."""

_SET_BACK = timedelta(hours=1)
_RETRY_SECONDS = 5.0
_OVERLAPPED = N_("a run was left out, since the one before was still going on")
_SKIPPED = N_("missed and left out, since the bot did not run then")


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """Without `runs_jobs` only the inspection runs."""

    missed_runs: Literal["once", "skip"]
    max_parallel: int
    runs_jobs: bool = True


class Scheduler:
    """Nothing is polled but the wall clock, once a minute; `alarm` is set when a job has changed."""

    def __init__(
        self,
        settings: SchedulerSettings,
        jobs: Jobs,
        firing: Firing,
        pausing: Pausing,
        alarm: asyncio.Event,
        clock: Callable[[], datetime],
        runs: Runs,
    ) -> None:
        self._settings, self._jobs, self._firing = settings, jobs, firing
        self._pausing, self._wake, self._clock = pausing, alarm, clock
        self._slots = asyncio.Semaphore(settings.max_parallel)
        self._stopping, self._runs = runs, runs.by_job
        self._looked_at: datetime | None = None
        self._standing: dict[str, CronAuthority | None] = {}
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """After the turns of an earlier run were queued again: runs that had begun are followed."""
        self._pausing.subscribe(self.wake)
        self._task = asyncio.create_task(self._work(), name="scheduler")

    async def close(self) -> None:
        """Claim nothing more. Turns that run are the queues' to end; they go on after a restart."""
        tasks = [task for task in (self._task, *(run.task for run in self._runs.values())) if task]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def wake(self) -> None:
        self._wake.set()

    async def _work(self) -> None:
        while True:
            self._wake.clear()
            try:
                seconds = await self.look()
            except StorageError as error:
                log.error("jobs_unreadable", error=str(error))
                seconds = _RETRY_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._wake.wait()

    async def look(self) -> float:
        """Begin what is due. Returns the seconds until it is worth looking again."""
        now = self._clock()
        jobs = tuple(job for job in await self._jobs.list() if self._settings.runs_jobs or job.kind != "job")
        if self._looked_at is not None and self._looked_at - now > _SET_BACK:
            log.warning("clock_set_back", before=self._looked_at.isoformat(), now=now.isoformat())
            jobs = tuple([await self._replanned(job, now) for job in jobs])
        self._looked_at = now
        await self._stop_forbidden({job.job_id: job for job in jobs})
        await self._end_left_behind(jobs)
        is_any_due = False
        for job in jobs:
            if job.is_running:
                self._follow(job, is_old=True)
            if _is_waiting(job, now) and not self._pausing.is_paused(session_of(job.job_id)):
                is_any_due = True
                await self._begin(job, now)
        if is_any_due:
            return 0.0
        coming = [job.next_at - now for job in jobs if job.state is JobState.ACTIVE and job.next_at]
        return min([_LONGEST_SLEEP, *(each for each in coming if each > timedelta(0))]).total_seconds()

    async def _begin(self, job: JobRecord, now: datetime) -> None:
        """Claim an occurrence, or let it pass. What somebody else took meanwhile is theirs."""
        is_due = _is_due(job, now)
        try:
            next_at = following(job, max(now, job.next_at or now)) if is_due else job.next_at
        except ValueError as error:
            await self._give_up(job, str(error))
            return
        state = state_before(next_at) if is_due else job.state
        if job.is_running:
            if is_due:
                await self._jobs.skip(job, next_at, state, _OVERLAPPED)
                log.warning("job_overlaps", job=job.job_id, name=job.name)
            return
        is_missed = is_due and job.next_at is not None and now - job.next_at > LATE
        if is_missed and not job.asked_at and self._settings.missed_runs == "skip":
            await self._jobs.skip(job, next_at, state, _SKIPPED)
            log.warning("job_missed", job=job.job_id, name=job.name)
            return
        due = job.next_at if is_due and job.next_at else job.asked_at or now
        note = _missed_words(job, now) if is_missed else ""
        run = run_of(job, due, is_asked=not is_due, note=note)
        if await self._jobs.claim(job, run, next_at, state):
            self._follow(replace(job, last=run, next_at=next_at, asked_at=None, state=state))

    def _follow(self, job: JobRecord, *, is_old: bool = False) -> None:
        """Have a claimed run run; one of an earlier process is taken up where it was left."""
        if job.job_id not in self._runs:
            task = asyncio.create_task(self._run(job), name=f"job {job.job_id}")
            self._runs[job.job_id] = Run(job, task, is_old)
            task.add_done_callback(lambda _: self._forget(job.job_id))

    async def _run(self, job: JobRecord) -> None:
        async with self._slots:
            while True:
                try:
                    await self._run_once(job)
                    return
                except StorageError as error:
                    log.error("job_stuck", job=job.job_id, error=str(error))
                    await asyncio.sleep(_RETRY_SECONDS)

    async def _run_once(self, job: JobRecord) -> None:
        if self._runs[job.job_id].is_stopped:
            await self._firing.give_up(job, "stopped")
            return
        if await self._is_given_up(job):
            await self._firing.give_up(job, "stopped", _SKIPPED)
            return
        try:
            await self._firing.run(job, lambda: self._runs[job.job_id].is_stopped)
        except StorageError:
            raise
        except Exception as error:  # the outer edge of a run: it fails alone, and is not begun again
            log.exception("job_crashed", job=job.job_id)
            await self._firing.give_up(job, "failed", type(error).__name__)

    async def _is_given_up(self, job: JobRecord) -> bool:
        """An earlier process claimed it and never began it, and what is missed is to be left out."""
        if self._settings.missed_runs == "once" or not self._runs[job.job_id].is_old or job.last.due is None:
            return False
        return self._clock() - job.last.due > LATE and not await self._firing.has_begun(job)

    def _forget(self, job_id: str) -> None:
        del self._runs[job_id]
        self.wake()

    async def _stop_forbidden(self, jobs: dict[str, JobRecord]) -> None:
        """A job that was deleted, or lost the authority that its run began with, runs no further."""
        for job_id, run in list(self._runs.items()):
            stored = jobs.get(job_id)
            lost = is_authorised(run.job) and (stored is None or not is_authorised(stored))
            if (stored is None or lost) and self._stopping.stop(job_id):
                log.warning("job_stopped", job=job_id, reason="deleted" if stored is None else "revoked")
                await self._firing.stop(run.job)

    async def _end_left_behind(self, jobs: Iterable[JobRecord]) -> None:
        """What runs began of a job that is not there any more, is switched off, or lost its authority."""
        standing = {job.job_id: authority_of(job) for job in jobs if job.state is not JobState.DISABLED}
        for job_id, authority in self._standing.items():
            if job_id not in standing or (authority is not None and standing[job_id] != authority):
                await self._firing.end_left_behind(job_id)
        self._standing = standing

    async def _replanned(self, job: JobRecord, now: datetime) -> JobRecord:
        """Its next run by a clock that was set back; what ran already is known by its time."""
        if job.state is not JobState.ACTIVE or job.next_at is None or job.next_at <= now:
            return job
        try:
            next_at = following(job, now)
        except ValueError:
            return job
        if next_at is None or next_at >= job.next_at:
            return job
        changed = await self._jobs.skip(job, next_at, job.state, job.last.note)
        return replace(job, next_at=next_at, asked_at=None) if changed else job

    async def _give_up(self, job: JobRecord, why: str) -> None:
        await self._jobs.change(replace(job, state=JobState.DISABLED, next_at=None, note=why))
        log.error("job_unreadable", job=job.job_id, name=job.name, error=why)


def _is_due(job: JobRecord, now: datetime) -> bool:
    return job.state is JobState.ACTIVE and job.next_at is not None and job.next_at <= now


def _is_waiting(job: JobRecord, now: datetime) -> bool:
    """Does its time, or somebody, want it to run?"""
    return _is_due(job, now) or (job.asked_at is not None and not job.is_running)


def _missed_words(job: JobRecord, now: datetime) -> str:
    zone = zone_of(job.zone)
    return f"this run is late: the bot did not run at its time, and now it is {moment_words(now, zone)}"
