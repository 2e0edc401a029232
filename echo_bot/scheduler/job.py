"""One job: what an authorisation binds, when it comes next, and the event that a run of it is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from echo_bot.approval.escape import escape_line
from echo_bot.approval.routing import direct_chat
from echo_bot.events import (
    Address,
    BlockType,
    ContentBlock,
    CronAuthority,
    EventId,
    EventType,
    Identity,
    InboundEvent,
    SessionKey,
)
from echo_bot.policy.call import BoundFile, canonical_json
from echo_bot.policy.settings import PolicySettings
from echo_bot.policy.targets import judge_address
from echo_bot.scheduler.reading import read_schedule
from echo_bot.scheduler.schedule import Schedule, next_after
from echo_bot.scheduler.words import moment_words
from echo_bot.scheduler.zones import zone_of
from echo_bot.storage.job_record import Authority, JobRecord, JobRun, JobState

NOTHING = "NOTHING"
"""What a run answers, exactly, that has nothing to report."""

LATE = timedelta(minutes=2)
"""A run that begins later than this after its time counts as missed, and says so."""

INSPECTION = "inspection"
"""The id and the name of the job that follows the configuration."""

_SESSION = "job:"


def bound_digest(job: JobRecord) -> str:
    """Of everything that an authorisation is for: change one of these, and it binds no more."""
    target = (job.target.channel, job.target.account, job.target.chat_id, job.target.thread_id)
    when = (job.schedule, job.zone, job.set_at.isoformat())
    bound = canonical_json([job.job_id, job.owner, job.instruction, *when, *target])
    return hashlib.sha256(bound.encode()).hexdigest()


def is_authorised(job: JobRecord) -> bool:
    """May it run tools that write and execute, with nobody there? The checklist never may."""
    if job.kind != "job" or job.authority is None:
        return False
    return job.authority.digest == bound_digest(job)


def authority_of(job: JobRecord) -> CronAuthority | None:
    """What a run of it rests on that may write and execute; None where it may not."""
    if job.authority is None or not is_authorised(job):
        return None
    return CronAuthority(job.job_id, job.authority.approval_id)


def still_holds(authority: CronAuthority | None, job: JobRecord | None) -> bool:
    """Is what a run began with still so? `job` is the job as it is now."""
    if authority is None or job is None or job.state is JobState.DISABLED:
        return False
    return authority_of(job) == authority


def authorised(
    job: JobRecord, *, by: str, at: datetime, approval_id: str, files: Iterable[BoundFile] = ()
) -> JobRecord:
    """The job with what a person allowed by this approval, as it and the scripts it names are now."""
    bound = tuple((file.path, file.identity) for file in files)
    return replace(job, authority=Authority(bound_digest(job), by, at, approval_id, bound))


def schedule_of(job: JobRecord) -> tuple[Schedule, ZoneInfo]:
    """Raises ValueError when this version or this computer cannot read it any more."""
    zone = zone_of(job.zone)
    return read_schedule(job.schedule, job.set_at, zone), zone


def following(job: JobRecord, after: datetime) -> datetime | None:
    """Its next run after that moment."""
    schedule, zone = schedule_of(job)
    return next_after(schedule, after, zone)


def state_before(next_at: datetime | None) -> JobState:
    """A job that comes no more is done."""
    return JobState.ACTIVE if next_at is not None else JobState.DONE


def session_of(job_id: str) -> SessionKey:
    return SessionKey(f"{_SESSION}{job_id}")


def job_id_of(session_key: SessionKey) -> str:
    """The inverse of `session_of`."""
    return session_key.removeprefix(_SESSION)


def run_of(job: JobRecord, due: datetime, *, is_asked: bool = False, note: str = "") -> JobRun:
    """The run of one occurrence; its id is the same whoever claims it."""
    asked = "asked:" if is_asked else ""
    event_id = f"{_SESSION}{job.job_id}:{asked}{due.astimezone(UTC).isoformat()}"
    return JobRun(EventId(event_id), due, "running", note=note)


def event_of(job: JobRecord, instruction: str, now: Callable[[Address], Address]) -> InboundEvent:
    """The event of the job's last run. `now` gives a chat's address under its present id."""
    owner, origin = Identity.parse(job.owner), now(job.origin)
    is_there = (origin.channel, origin.account) == (owner.channel, owner.account)
    chat = origin if is_there else direct_chat(owner)
    return InboundEvent(
        event_id=job.last.event_id,
        event_type=EventType.MESSAGE,
        channel=owner.channel,
        account=owner.account,
        chat_id=chat.chat_id,
        thread_id=chat.thread_id,
        sender_id=owner.sender_id,
        timestamp=job.last.due or job.created_at,
        content=(ContentBlock(BlockType.TEXT, instruction),),
        session_key_override=session_of(job.job_id),
        memory_scope=job.memory_scope,
        unattended=True,
        cron_authorized=is_authorised(job),
        deliver_to=now(job.target),
        occasion=occasion_of(job),
        authority=authority_of(job),
    )


def occasion_of(job: JobRecord) -> str:
    """What the model is told of a run."""
    due = moment_words(job.last.due or job.created_at, zone_of(job.zone))
    what = "the checklist of the configuration" if job.kind == "inspection" else "a scheduled job"
    may = (
        "A person authorised this job, so calls that write or run code pass; dangerous ones never do."
        if is_authorised(job)
        else "Calls that write or run code may be denied: then say what could not be done."
    )
    late = f" {job.last.note[0].upper()}{job.last.note[1:]}." if job.last.note else ""
    return (
        f"[This is {what}, {escape_line(job.name)}, of {job.owner}, due {due}.{late} It runs unattended: "
        f"nobody reads along, can be asked or can approve anything. {may} Do what follows; your answer is "
        f"sent to {job.target}. If there is nothing to report, answer with the one word {NOTHING} and no "
        "other.]"
    )


def target_problem(job: JobRecord, settings: PolicySettings, now: Callable[[Address], Address]) -> str:
    """Why the job's answers may not go to its target any more; "" when they may.

    The chat where it was made, its owner's own and those of `delivery.allowed_targets` are allowed, and any
    other while the authorisation holds that a person gave for it, or where the operator wrote it down.
    """
    target = now(job.target)
    if target.channel not in settings.access.known_channels:
        return f"the channel {target.channel} is not known here"
    by_operator = job.kind == "inspection"
    if by_operator or is_authorised(job) or target == direct_chat(Identity.parse(job.owner)):
        return ""
    findings = judge_address(target, now(job.origin), settings.targets, settings.allowed_targets)
    return "; ".join(finding.sentence for finding in findings)
