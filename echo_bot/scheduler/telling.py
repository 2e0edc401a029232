"""How jobs are told of: on a card, in lists, in notices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from echo_bot.approval.escape import escape_line
from echo_bot.files.identity import ABSENT
from echo_bot.policy.call import BoundFile
from echo_bot.scheduler.job import is_authorised, schedule_of
from echo_bot.scheduler.words import moment_words, next_words, schedule_words
from echo_bot.scheduler.zones import zone_of
from echo_bot.storage.job_record import JobRecord, JobState

INSTRUCTION, RUNS, TARGET = "instruction", "runs", "answers go to"
SCRIPTS = "scripts"
BINDING = (INSTRUCTION, RUNS, TARGET, SCRIPTS)
"""What a person saw of the job and authorised: it must be the same when their approval is used."""

AUTHORISES = (
    "Approving this authorises the job: at its times it runs with nobody there, as its owner, and its calls "
    "that write, run code or send to this target pass without asking, until its instruction, schedule, zone, "
    "target or a script that it names changes or somebody revokes it. Dangerous calls stay denied."
)

_SHOWN_IDENTITY = 23
"""Characters of "sha256:…" that a card shows."""

Lines = tuple[tuple[str, str], ...]
"""Labelled, for a card."""


def plan_of(job: JobRecord, now: datetime, files: Iterable[BoundFile] = ()) -> Lines:
    """All that an authorisation would bind, for whoever is asked."""
    schedule, zone = schedule_of(job)
    runs = f"{schedule_words(schedule, zone)}; as written: {job.schedule}; zone {job.zone}"
    return (
        ("job", job.name),
        ("owner", job.owner),
        (INSTRUCTION, job.instruction),
        (RUNS, runs),
        ("next", next_words(schedule, now, zone) if job.state is JobState.ACTIVE else job.state.value),
        (TARGET, str(job.target)),
        *((SCRIPTS, each) for each in [_scripts(files)] if each),
    )


def is_as_shown(job: JobRecord, shown: Lines, now: datetime, files: Iterable[BoundFile] = ()) -> bool:
    """Are the job and the scripts it names still what the card said?"""
    here, there = dict(plan_of(job, now, files)), dict(shown)
    return all(here.get(label) == there.get(label) for label in BINDING)


def _scripts(files: Iterable[BoundFile]) -> str:
    """Each with the beginning of its digest: the approval is for what they hold now."""
    return ", ".join(f"{file.path} ({_identity(file)})" for file in files)


def _identity(file: BoundFile) -> str:
    if file.identity == ABSENT:
        return "not there yet"
    return f"{file.identity[:_SHOWN_IDENTITY]}…"


def job_line(job: JobRecord) -> str:
    """One line for lists."""
    return ", ".join([f"{escape_line(job.name)} ({job.job_id}): {when(job)}", *_facts(job)])


def jobs_line(jobs: Sequence[JobRecord]) -> str:
    """How many there are, by state; "" for none."""
    counted = Counter(job.state.value for job in jobs)
    if not counted:
        return ""
    states = ", ".join(f"{count} {state}" for state, count in sorted(counted.items()))
    failing = sum(job.failures > 0 for job in jobs)
    coming = min(
        (job for job in jobs if job.next_at), key=lambda job: job.next_at or job.set_at, default=None
    )
    following = f". Next: {escape_line(coming.name)}, {when(coming)}" if coming else ""
    return f"Jobs: {states}{f', {failing} of them failing' if failing else ''}{following}."


def when(job: JobRecord) -> str:
    """Its schedule in words and its next run."""
    try:
        schedule, zone = schedule_of(job)
    except ValueError as error:
        return f"cannot be read: {error}"
    words = schedule_words(schedule, zone)
    if job.state is not JobState.ACTIVE or job.next_at is None:
        return words
    following = moment_words(job.next_at, zone)
    return words if following in words else f"{words}, next {following}"


def last_words(job: JobRecord) -> str:
    """How its last run went; "" before the first."""
    if not job.last.state:
        return ""
    at = job.last.ended_at or job.last.due
    moment = f" {_moment(at, job.zone)}" if at else ""
    error = f" ({escape_line(job.last.error)[:200]})" if job.last.error else ""
    return f"{job.last.state}{moment}{error}"


def _moment(at: datetime, zone: str) -> str:
    """In UTC where the zone is not known here any more."""
    try:
        return moment_words(at, zone_of(zone))
    except ValueError:
        return moment_words(at, UTC)


def _facts(job: JobRecord) -> Iterator[str]:
    if job.state is not JobState.ACTIVE:
        yield job.state.value + (f" ({job.note})" if job.note else "")
    yield f"answers to {job.target}"
    yield "authorised" if is_authorised(job) else "not authorised"
    if last := last_words(job):
        yield f"last run {last}"
    if job.last.note:
        yield job.last.note
