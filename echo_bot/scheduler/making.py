"""A job from what somebody asked for, and a job as somebody wants it changed. Nothing is stored here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from echo_bot.approval.routing import direct_chat
from echo_bot.events import Address, Identity
from echo_bot.policy.call import Arguments
from echo_bot.policy.targets import HERE, parse_target
from echo_bot.scheduler.job import INSPECTION, following, state_before
from echo_bot.scheduler.reading import read_schedule
from echo_bot.scheduler.schedule import next_after
from echo_bot.scheduler.zones import zone_of
from echo_bot.storage.job_record import JobRecord

LONGEST_NAME = 64
LONGEST_INSTRUCTION = 10_000
MOST_JOBS = 100
"""Of one owner."""

_CHANGES = ("instruction", "schedule", "timezone", "target")


@dataclass(frozen=True, slots=True)
class Maker:
    """Who makes a job and where: `channels` are those that answers can go to, `default_zone` a zone's name.

    `asked_at` is when it was asked for, from which "in 20 minutes" counts; `now` is now.
    """

    owner: Identity
    origin: Address
    memory_scope: str
    targets: Mapping[str, str]
    channels: Callable[[Address], bool]
    default_zone: str
    asked_at: datetime
    now: datetime


def new_job(job_id: str, args: Arguments, maker: Maker) -> JobRecord:
    """Raises ValueError with a sentence that says what is missing or wrong."""
    zone = _text(args, "timezone") or maker.default_zone
    job = JobRecord(
        job_id=job_id,
        name=_name(args),
        owner=str(maker.owner),
        origin=maker.origin,
        memory_scope=maker.memory_scope,
        schedule=_needed(args, "schedule"),
        zone=zone,
        set_at=maker.asked_at,
        instruction=_instruction(args),
        target=_target(args, maker.owner, maker),
        created_at=maker.now,
    )
    read_schedule(job.schedule, maker.asked_at, zone_of(zone))
    return _timed(job, maker)


def changed_job(job: JobRecord, args: Arguments, maker: Maker) -> JobRecord:
    """The job with what `args` name; whatever that is, it takes an authorisation away."""
    if not any(name in args for name in _CHANGES):
        raise ValueError(f"name what is to change: {', '.join(_CHANGES)}")
    changed = job
    if "instruction" in args:
        changed = replace(changed, instruction=_instruction(args))
    if "target" in args:
        changed = replace(changed, target=_target(args, Identity.parse(job.owner), maker))
        is_owner = str(maker.owner) == job.owner
        changed = replace(changed, origin=maker.origin if is_owner else job.origin)
    if "schedule" in args or "timezone" in args:
        zone = _text(args, "timezone") or job.zone
        schedule = _text(args, "schedule") or job.schedule
        read_schedule(schedule, maker.asked_at, zone_of(zone))
        changed = _timed(replace(changed, schedule=schedule, zone=zone, set_at=maker.asked_at), maker)
    return replace(changed, authority=None)


def resumed_job(job: JobRecord, now: datetime) -> JobRecord:
    """A job that waits for its time again. Raises ValueError for one whose time is over."""
    next_at = following(job, now)
    if next_at is None:
        raise ValueError(f"{job.name}: its time is over; give it another schedule")
    return replace(job, state=state_before(next_at), next_at=next_at, note="")


def _timed(job: JobRecord, maker: Maker) -> JobRecord:
    schedule = read_schedule(job.schedule, job.set_at, zone_of(job.zone))
    next_at = next_after(schedule, maker.now, zone_of(job.zone))
    if next_at is None:
        raise ValueError(f"{job.schedule!r} passed while somebody was being asked; name a later time")
    return replace(job, next_at=next_at, state=state_before(next_at), note="")


def _name(args: Arguments) -> str:
    name = _needed(args, "name")
    if len(name) > LONGEST_NAME or not name.isprintable() or "`" in name:
        raise ValueError(f"a name is one plain line of at most {LONGEST_NAME} characters")
    if name == INSPECTION:
        raise ValueError(f"the name {INSPECTION} is taken by the checklist of the configuration")
    return name


def _instruction(args: Arguments) -> str:
    instruction = _needed(args, "instruction")
    if len(instruction) > LONGEST_INSTRUCTION:
        raise ValueError(f"an instruction has at most {LONGEST_INSTRUCTION:,} characters")
    return instruction


def _target(args: Arguments, owner: Identity, maker: Maker) -> Address:
    target = parse_target(_text(args, "target"), maker.targets)
    if target.kind == HERE:
        return maker.origin
    address = target.address or direct_chat(owner)
    if not maker.channels(address):
        raise ValueError(f"target {address}: the channel {address.channel} does not run here")
    return address


def _needed(args: Arguments, name: str) -> str:
    text = _text(args, name)
    if not text:
        raise ValueError(f"{name} is missing")
    return text


def _text(args: Arguments, name: str) -> str:
    return str(args.get(name) or "").strip()
