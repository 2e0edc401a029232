"""The inspection: a checklist of the operator's, gone through at intervals, with nobody there.

It is a job that nobody made: its row follows the configuration, and nothing ever authorises it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from echo_bot.approval.routing import direct_chat
from echo_bot.events import Address, Identity
from echo_bot.files import FileDoor, FileRefusal
from echo_bot.policy.access import LOCAL, is_admin
from echo_bot.policy.settings import AccessSettings
from echo_bot.policy.targets import OWNER, parse_target
from echo_bot.scheduler.job import INSPECTION, following, state_before
from echo_bot.storage.job_record import JobRecord, JobState
from echo_bot.storage.protocol import Jobs

OPERATOR = Identity("cli", "local")
"""Whose inspection it is where no admin is named: somebody who is no admin but under personal_cli."""

_MOST_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Checklist:
    """`every` is an interval ("1h"), `file` a path that counts from the workspace."""

    every: str
    file: str
    target: str


def inspector(access: AccessSettings) -> Identity:
    """Whose rights it has: the first admin who is named with a channel, else the operator."""
    for entry in access.admin_users:
        if ":" in entry and entry not in LOCAL:
            person = Identity.parse(entry)
            if is_admin(person, access):
                return person
    return OPERATOR


def inspection_job(
    checklist: Checklist, owner: Identity, targets: Mapping[str, str], zone: str, now: datetime
) -> JobRecord:
    """The row as the configuration wants it. Raises ValueError for what it cannot mean."""
    target = parse_target(checklist.target or OWNER, targets)
    address: Address = target.address or direct_chat(owner)
    job = JobRecord(
        job_id=INSPECTION,
        name=INSPECTION,
        owner=str(owner),
        origin=address,
        memory_scope="",
        schedule=f"every {checklist.every}",
        zone=zone,
        set_at=now,
        instruction=checklist.file,
        target=address,
        created_at=now,
        kind="inspection",
    )
    return replace(job, next_at=following(job, now))


async def bring_in_line(jobs: Jobs, wanted: JobRecord | None, now: datetime) -> None:
    """Make the stored row what the configuration wants; None: no inspection. A pause of it stays."""
    stored = await jobs.get(INSPECTION)
    if wanted is None:
        if stored is not None:
            await jobs.delete(INSPECTION)
        return
    if stored is None or stored.owner != wanted.owner:
        if stored is not None:
            await jobs.delete(INSPECTION)
        await jobs.add(wanted)
        return
    kept = replace(
        stored,
        origin=wanted.origin,
        target=wanted.target,
        instruction=wanted.instruction,
        zone=wanted.zone,
        authority=None,
    )
    if stored.schedule != wanted.schedule:
        kept = replace(kept, schedule=wanted.schedule, set_at=now, next_at=wanted.next_at)
    if kept.state is JobState.DISABLED:
        kept = replace(kept, state=state_before(wanted.next_at), next_at=wanted.next_at, note="")
    if kept != stored:
        await jobs.change(kept)


def checklist_reader(
    file: str, workspace: str, owner: Identity, door_of: Callable[[Identity], Awaitable[FileDoor]]
) -> Callable[[], Awaitable[str]]:
    """Reads the checklist through its owner's path policy. It raises ValueError with a sentence."""

    def read(door: FileDoor) -> str:
        found = door.read_bytes(file, workspace, _MOST_BYTES)
        if isinstance(found, FileRefusal):
            raise ValueError(f"inspection.file: {found.sentence}")
        text = found.data.decode("utf-8", "replace").strip()
        if not text:
            raise ValueError(f"inspection.file: {file} is empty; write into it what is to be looked at")
        return text

    async def read_in_thread() -> str:
        return await asyncio.to_thread(read, await door_of(owner))

    return read_in_thread
