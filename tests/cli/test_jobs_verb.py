"""`echo-bot jobs`: what it lists, and how it changes jobs beside a running bot."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from echo_bot.events import Address
from echo_bot.scheduler.job import authorised, is_authorised
from echo_bot.storage.job_record import JobRecord, JobRun, JobState
from echo_bot.storage.store import SqlStore
from echo_bot.testing.command_line import CommandLine

NOW = datetime.now(UTC).replace(microsecond=0)
BARE = JobRecord(
    job_id="a1",
    name="backup",
    owner="telegram:1",
    origin=Address("telegram", "1"),
    memory_scope="person:telegram:1",
    schedule="@daily",
    zone="UTC",
    set_at=NOW,
    instruction="/run ./backup.sh\n\u202e",
    target=Address("telegram", "-100"),
    created_at=NOW,
    next_at=NOW + timedelta(days=1),
)
JOB = authorised(BARE, by="telegram:9", at=NOW, approval_id="a")
OTHER = replace(BARE, job_id="b2", owner="telegram:2", created_at=NOW + timedelta(seconds=1))


def add(*jobs: JobRecord) -> Callable[[SqlStore], Awaitable[None]]:
    async def work(store: SqlStore) -> None:
        for each in jobs:
            assert await store.jobs.add(each)

    return work


def stored(command_line: CommandLine, job_id: str = "a1") -> JobRecord:
    async def work(store: SqlStore) -> JobRecord | None:
        return await store.jobs.get(job_id)

    found = command_line.with_store(work)
    assert found is not None
    return found


def test_jobs_are_listed_by_owner(command_line: CommandLine) -> None:
    assert command_line("jobs", "list").err == "no jobs\n"
    assert not command_line.database.exists()
    command_line.with_store(add(JOB, OTHER))
    lines = [line.split("\t") for line in command_line("jobs", "list").out.splitlines()]
    assert [(line[0], line[1], line[2], line[3], line[6]) for line in lines] == [
        ("a1", "backup", "telegram:1", "active", "yes"),
        ("b2", "backup", "telegram:2", "active", "no"),
    ]
    (row,) = json.loads(command_line("jobs", "list", "--json", "--owner", "telegram:1").out)
    assert (row["id"], row["authorised_by"], row["target"]) == ("a1", "telegram:9", "telegram:-100")
    assert row["next_at"] == (NOW + timedelta(days=1)).isoformat()
    assert "\u202e" not in row["instruction"]


def test_one_job_is_shown_by_its_id_or_by_a_name_of_its_own(command_line: CommandLine) -> None:
    command_line.with_store(add(JOB))
    assert "instruction: /run ./backup.sh" in command_line("jobs", "show", "backup").out
    assert json.loads(command_line("jobs", "show", "a1", "--json").out)["zone"] == "UTC"
    command_line.with_store(add(OTHER))
    two = command_line("jobs", "show", "backup")
    assert (two.code, "several people have a job backup" in two.err) == (1, True)


@pytest.mark.parametrize("verb", ["show", "delete", "pause", "resume", "run"])
def test_of_what_is_not_there_the_answer_is_no(command_line: CommandLine, verb: str) -> None:
    answer = command_line("jobs", verb, "nothing")
    assert (answer.code, "there is no job nothing" in answer.err) == (1, True)
    assert not command_line.database.exists()


def test_a_held_job_goes_on_with_its_authorisation(command_line: CommandLine) -> None:
    command_line.with_store(add(JOB))
    assert command_line("jobs", "pause", "a1").out == "paused backup\n"
    assert (stored(command_line).state, stored(command_line).next_at) == (JobState.PAUSED, None)
    assert command_line("jobs", "pause", "a1").code == 1
    assert command_line("jobs", "resume", "a1").out.startswith("backup goes on: ")
    job = stored(command_line)
    assert job.state is JobState.ACTIVE
    assert job.next_at is not None
    assert is_authorised(job)
    audit = command_line("audit", "tail").out
    assert "job_paused by=cli:local job=a1" in audit
    assert "job_resumed by=cli:local job=a1" in audit


def test_a_job_whose_time_is_over_does_not_go_on(command_line: CommandLine) -> None:
    over = replace(
        BARE, schedule="2020-01-01 10:00", set_at=datetime(2019, 1, 1, tzinfo=UTC), state=JobState.DONE
    )
    command_line.with_store(add(over))
    answer = command_line("jobs", "resume", "a1")
    assert (answer.code, "its time is over" in answer.err) == (1, True)


def test_a_job_is_asked_to_run_once(command_line: CommandLine) -> None:
    command_line.with_store(add(JOB))
    assert "runs as soon as a bot does" in command_line("jobs", "run", "a1").out
    assert stored(command_line).asked_at is not None
    assert command_line("jobs", "run", "a1").code == 1
    off = replace(OTHER, state=JobState.DISABLED, note="its owner left")
    command_line.with_store(add(off))
    answer = command_line("jobs", "run", "b2")
    assert (answer.code, "its owner left" in answer.err) == (1, True)


def test_a_deleted_job_is_gone_and_the_inspection_is_the_configurations(command_line: CommandLine) -> None:
    inspection = replace(BARE, job_id="inspection", name="inspection", kind="inspection")
    command_line.with_store(add(JOB, inspection))
    assert command_line("jobs", "delete", "a1").out == "deleted backup\n"
    answer = command_line("jobs", "delete", "inspection")
    assert (answer.code, "inspection.enabled" in answer.err) == (1, True)
    assert len(json.loads(command_line("jobs", "list", "--json").out)) == 1


def test_status_counts_jobs(command_line: CommandLine) -> None:
    failing = replace(OTHER, failures=2, last=JobRun(state="failed", error="no disk"))
    command_line.with_store(add(JOB, failing))
    found = json.loads(command_line("status", "--json").out)
    assert (found["jobs"], found["failing_jobs"]) == ({"active": 2}, 1)
    assert "Jobs: 2 active; 1 failed when they last ran" in command_line("status").out
