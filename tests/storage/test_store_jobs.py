"""Jobs in the store: an occurrence is one caller's, and a change is never lost."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from echo_bot.events import Address, EventId
from echo_bot.storage.job_record import Authority, JobRecord, JobRun, JobState
from echo_bot.storage.store import SqlStore

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
JOB = JobRecord(
    job_id="a1",
    name="backup",
    owner="telegram:1",
    origin=Address("telegram", "1"),
    memory_scope="person:telegram:1",
    schedule="@daily",
    zone="Europe/Berlin",
    set_at=NOW,
    instruction="/run ./backup.sh",
    target=Address("telegram", "-100", "7", "work"),
    created_at=NOW,
    authority=Authority("d1", "telegram:1", NOW, "abc", (("/w/backup.sh", "sha256:1"),)),
    next_at=NOW,
)
RUN = JobRun(EventId("job:a1:1"), NOW, "running")


async def test_a_job_is_read_as_it_was_stored(store: SqlStore) -> None:
    assert await store.jobs.add(JOB)
    plain = replace(JOB, job_id="b2", name="other", authority=None, next_at=None, kind="inspection")
    assert await store.jobs.add(plain)
    assert await store.jobs.get("a1") == JOB
    assert await store.jobs.list() == (JOB, plain)
    assert await store.jobs.list("telegram:2") == ()
    assert await store.jobs.get("c3") is None


async def test_a_name_is_one_job_of_its_owner(store: SqlStore) -> None:
    assert await store.jobs.add(JOB)
    assert not await store.jobs.add(replace(JOB, job_id="b2"))
    assert await store.jobs.add(replace(JOB, job_id="b2", owner="telegram:2"))


async def test_a_change_of_what_was_changed_meanwhile_is_refused(store: SqlStore) -> None:
    await store.jobs.add(JOB)
    assert await store.jobs.change(replace(JOB, instruction="other", authority=None))
    assert not await store.jobs.change(replace(JOB, instruction="third"))
    stored = await store.jobs.get("a1")
    assert stored == replace(JOB, instruction="other", authority=None, revision=1)


async def test_an_occurrence_is_claimed_by_one_of_many(store: SqlStore) -> None:
    await store.jobs.add(JOB)
    claims = await asyncio.gather(*(store.jobs.claim(JOB, RUN, LATER, JobState.ACTIVE) for _ in range(5)))
    assert sorted(claims) == [False] * 4 + [True]
    assert await store.jobs.get("a1") == replace(JOB, next_at=LATER, last=RUN)


async def test_a_running_job_is_not_claimed_again(store: SqlStore) -> None:
    await store.jobs.add(JOB)
    await store.jobs.claim(JOB, RUN, LATER, JobState.ACTIVE)
    running = await store.jobs.get("a1")
    assert running is not None
    assert not await store.jobs.claim(running, replace(RUN, event_id=EventId("x")), None, JobState.DONE)
    assert not await store.jobs.ask("a1", NOW)
    assert await store.jobs.skip(running, LATER + timedelta(days=1), JobState.ACTIVE, "still ran")
    assert not await store.jobs.skip(running, LATER + timedelta(days=1), JobState.ACTIVE, "still ran")


async def test_a_changed_job_is_not_run_as_it_was(store: SqlStore) -> None:
    await store.jobs.add(JOB)
    await store.jobs.change(replace(JOB, instruction="other"))
    assert not await store.jobs.claim(JOB, RUN, LATER, JobState.ACTIVE)


async def test_a_run_ends_once_and_a_change_of_the_job_keeps_how_it_ended(store: SqlStore) -> None:
    await store.jobs.add(JOB)
    await store.jobs.claim(JOB, RUN, LATER, JobState.ACTIVE)
    end = {"error": "no disk", "failures": 1, "told": True}
    assert not await store.jobs.end("a1", EventId("other"), "failed", LATER, **end)  # type: ignore[arg-type]
    assert await store.jobs.end("a1", RUN.event_id, "failed", LATER, **end)  # type: ignore[arg-type]
    assert not await store.jobs.end("a1", RUN.event_id, "done", LATER, error="", failures=0, told=False)
    assert await store.jobs.change(replace(JOB, state=JobState.PAUSED))
    stored = await store.jobs.get("a1")
    assert stored is not None
    assert stored.last == replace(RUN, state="failed", error="no disk", ended_at=LATER)
    assert (stored.failures, stored.told, stored.state) == (1, True, JobState.PAUSED)


async def test_a_job_is_asked_to_run_now_once(store: SqlStore) -> None:
    await store.jobs.add(JOB)
    assert await store.jobs.ask("a1", NOW)
    assert not await store.jobs.ask("a1", LATER)
    asked = await store.jobs.get("a1")
    assert asked is not None
    assert not await store.jobs.claim(JOB, RUN, LATER, JobState.ACTIVE)
    assert await store.jobs.claim(asked, RUN, LATER, JobState.ACTIVE)
    stored = await store.jobs.get("a1")
    assert stored is not None
    assert stored.asked_at is None
    assert not await store.jobs.ask("nobody", NOW)


async def test_only_a_job_that_is_over_is_forgotten(store: SqlStore) -> None:
    over = replace(JOB, job_id="b2", name="over", state=JobState.DONE, last=replace(RUN, ended_at=NOW))
    for job in (
        replace(JOB, last=replace(RUN, state="done", ended_at=NOW)),
        replace(over, last=replace(over.last, state="done")),
        replace(over, job_id="c3", name="runs"),
    ):
        assert await store.jobs.add(job)
    assert await store.jobs.forget_done(NOW) == 0
    assert await store.jobs.forget_done(LATER) == 1
    assert [job.job_id for job in await store.jobs.list()] == ["a1", "c3"]


async def test_a_deleted_job_is_gone(store: SqlStore) -> None:
    await store.jobs.add(JOB)
    assert await store.jobs.delete("a1")
    assert not await store.jobs.delete("a1")
    assert await store.jobs.get("a1") is None
