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
from echo_bot.text.language import N_, Say, _, english, listed

INSTRUCTION, RUNS, TARGET = N_("instruction"), N_("runs"), N_("answers go to")
SCRIPTS = N_("scripts")
BINDING = (INSTRUCTION, RUNS, TARGET, SCRIPTS)
"""What a person saw of the job and authorised: it must be the same when their approval is used."""

AUTHORISES = N_(
    "Approving this authorises the job: at its times it runs with nobody there, as its owner, and its calls "
    "that write, run code or send to this target pass without asking, until its instruction, schedule, zone, "
    "target or a script that it names changes or somebody revokes it. Dangerous calls stay denied."
)

STATES = {
    "active": N_("active"),
    "paused": N_("paused"),
    "disabled": N_("disabled"),
    "running": N_("running"),
    "done": N_("done"),
    "failed": N_("failed"),
    "stopped": N_("stopped"),
}
"""Of a job, and of its last run."""

_SHOWN_IDENTITY = 23
"""Characters of "sha256:…" that a card shows."""

Lines = tuple[tuple[str, str], ...]
"""Labelled, for a card."""


def plan_of(job: JobRecord, now: datetime, files: Iterable[BoundFile] = ()) -> Lines:
    """All that an authorisation would bind, for whoever is asked."""
    schedule, zone = schedule_of(job)
    template = _("{words}; as written: {schedule}; zone {zone}")
    runs = template.format(words=schedule_words(schedule, zone, _), schedule=job.schedule, zone=job.zone)
    is_active = job.state is JobState.ACTIVE
    coming = next_words(schedule, now, zone, _) if is_active else _(STATES[job.state.value])
    return (
        (N_("job"), job.name),
        (N_("owner"), job.owner),
        (INSTRUCTION, job.instruction),
        (RUNS, runs),
        (N_("next"), coming),
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
        return _("not there yet")
    return f"{file.identity[:_SHOWN_IDENTITY]}…"


def job_line(job: JobRecord, say: Say = english) -> str:
    """One line for lists."""
    head = say(N_("{label}: {text}")).format(
        label=f"{escape_line(job.name)} ({job.job_id})", text=when(job, say)
    )
    return listed([head, *_facts(job, say)], say)


def jobs_line(jobs: Sequence[JobRecord]) -> str:
    """How many there are, by state; "" for none."""
    counted = Counter(job.state.value for job in jobs)
    if not counted:
        return ""
    states = listed(
        _("{count} {state}").format(count=count, state=_(STATES[state]))
        for state, count in sorted(counted.items())
    )
    failing = sum(job.failures > 0 for job in jobs)
    coming = min(
        (job for job in jobs if job.next_at), key=lambda job: job.next_at or job.set_at, default=None
    )
    told = _("Jobs: {states}").format(states=states)
    if failing:
        told += _(", {count} of them failing").format(count=failing)
    if coming:
        told += _(". Next: {name}, {when}").format(name=escape_line(coming.name), when=when(coming, _))
    return told + _(".")


def when(job: JobRecord, say: Say = english) -> str:
    """Its schedule in words and its next run."""
    try:
        schedule, zone = schedule_of(job)
    except ValueError as error:
        return say(N_("cannot be read: {problem}")).format(problem=error)
    words = schedule_words(schedule, zone, say)
    if job.state is not JobState.ACTIVE or job.next_at is None:
        return words
    following = moment_words(job.next_at, zone, say)
    if following in words:
        return words
    return say(N_("{words}, next {moment}")).format(words=words, moment=following)


def last_words(job: JobRecord, say: Say = english) -> str:
    """How its last run went; "" before the first."""
    if not job.last.state:
        return ""
    at = job.last.ended_at or job.last.due
    moment = f" {_moment(at, job.zone, say)}" if at else ""
    error = f" ({escape_line(job.last.error)[:200]})" if job.last.error else ""
    return f"{say(STATES[job.last.state])}{moment}{error}"


def _moment(at: datetime, zone: str, say: Say) -> str:
    """In UTC where the zone is not known here any more."""
    try:
        return moment_words(at, zone_of(zone), say)
    except ValueError:
        return moment_words(at, UTC, say)


def _facts(job: JobRecord, say: Say) -> Iterator[str]:
    if job.state is not JobState.ACTIVE:
        yield say(STATES[job.state.value]) + (f" ({job.note})" if job.note else "")
    yield say(N_("answers to {target}")).format(target=job.target)
    yield say(N_("authorised")) if is_authorised(job) else say(N_("not authorised"))
    if last := last_words(job, say):
        yield say(N_("last run {how}")).format(how=last)
    if job.last.note:
        yield say(job.last.note)
