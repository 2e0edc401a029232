"""Scheduled jobs; an occurrence is claimed in one statement, so that it is nobody else's."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Update, delete, select, update
from sqlalchemy.engine import RowMapping

from echo_bot.events import Address, EventId
from echo_bot.storage.columns import ADDRESS, fields
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.job_record import Authority, JobRecord, JobRun, JobState, RunState
from echo_bot.storage.job_tables import jobs

_PLAIN = (
    "job_id",
    "kind",
    "name",
    "owner",
    "memory_scope",
    "schedule",
    "zone",
    "set_at",
    "instruction",
    "note",
    "next_at",
    "asked_at",
    "failures",
    "told",
    "revision",
    "created_at",
)
# In the order of JobRun's fields.
_RUNS = ("last_event", "last_due", "last_state", "last_error", "last_ended_at", "last_note")
_KEPT = frozenset({"job_id", "kind", "owner", "created_at", "failures", "told", "asked_at", *_RUNS})
"""What a change of the job itself leaves alone."""


class SqlJobs:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, job: JobRecord) -> bool:
        statement = insert_into(jobs).values(_values(job)).on_conflict_do_nothing()
        return await self._database.change(statement) == 1

    async def get(self, job_id: str) -> JobRecord | None:
        return await self._database.first(select(jobs).where(jobs.c.job_id == job_id), _job)

    async def list(self, owner: str | None = None) -> tuple[JobRecord, ...]:
        statement = select(jobs).order_by(jobs.c.created_at, jobs.c.job_id)
        if owner is not None:
            statement = statement.where(jobs.c.owner == owner)
        return await self._database.rows(statement, _job)

    async def change(self, job: JobRecord) -> bool:
        changes = {name: value for name, value in _values(job).items() if name not in _KEPT}
        statement = _at(job).values(changes | {"revision": job.revision + 1})
        return await self._database.change(statement) == 1

    async def delete(self, job_id: str) -> bool:
        return await self._database.change(delete(jobs).where(jobs.c.job_id == job_id)) == 1

    async def forget_done(self, before: datetime) -> int:
        statement = (
            delete(jobs)
            .where(jobs.c.state == JobState.DONE.value)
            .where(jobs.c.last_state != "running")
            .where(jobs.c.last_ended_at < before)
        )
        return await self._database.change(statement)

    async def ask(self, job_id: str, at: datetime) -> bool:
        statement = (
            update(jobs)
            .where(jobs.c.job_id == job_id)
            .where(jobs.c.asked_at.is_(None))
            .where(jobs.c.last_state != "running")
            .values(asked_at=at)
        )
        return await self._database.change(statement) == 1

    async def claim(self, job: JobRecord, run: JobRun, next_at: datetime | None, state: JobState) -> bool:
        changes = {"next_at": next_at, "asked_at": None, "state": state.value, **_run_values(run)}
        statement = _at(job, *_unclaimed(job)).where(jobs.c.last_state != "running").values(changes)
        return await self._database.change(statement) == 1

    async def skip(self, job: JobRecord, next_at: datetime | None, state: JobState, note: str) -> bool:
        changes = {"next_at": next_at, "asked_at": None, "state": state.value, "last_note": note}
        return await self._database.change(_at(job, *_unclaimed(job)).values(changes)) == 1

    async def end(
        self,
        job_id: str,
        event_id: EventId,
        state: RunState,
        at: datetime,
        *,
        error: str,
        failures: int,
        told: bool,
    ) -> bool:
        statement = (
            update(jobs)
            .where(jobs.c.job_id == job_id)
            .where(jobs.c.last_event == event_id)
            .where(jobs.c.last_state == "running")
            .values(last_state=state, last_ended_at=at, last_error=error, failures=failures, told=told)
        )
        return await self._database.change(statement) == 1


def _at(job: JobRecord, *more: ColumnElement[bool]) -> Update:
    """The job, if nobody changed what it is since it was read."""
    return update(jobs).where(jobs.c.job_id == job.job_id, jobs.c.revision == job.revision, *more)


def _unclaimed(job: JobRecord) -> tuple[ColumnElement[bool], ...]:
    """Neither of the moments at which it is due was taken by somebody else."""
    return (
        jobs.c.next_at.is_not_distinct_from(job.next_at),
        jobs.c.asked_at.is_not_distinct_from(job.asked_at),
    )


def _values(job: JobRecord) -> dict[str, Any]:
    authority = job.authority
    return {
        **{name: getattr(job, name) for name in _PLAIN},
        **{f"origin_{name}": getattr(job.origin, name) for name in ADDRESS},
        **{f"target_{name}": getattr(job.target, name) for name in ADDRESS},
        "state": job.state.value,
        "authority_digest": authority.digest if authority else "",
        "authority_by": authority.by if authority else "",
        "authority_at": authority.at if authority else None,
        "authority_approval": authority.approval_id if authority else "",
        "authority_files": json.dumps(authority.files if authority else ()),
        **_run_values(job.last),
    }


def _run_values(run: JobRun) -> dict[str, Any]:
    return {
        "last_event": run.event_id,
        "last_due": run.due,
        "last_state": run.state,
        "last_error": run.error,
        "last_ended_at": run.ended_at,
        "last_note": run.note,
    }


def _job(row: RowMapping) -> JobRecord:
    authority = None
    if row["authority_digest"]:
        authority = Authority(
            digest=row["authority_digest"],
            by=row["authority_by"],
            at=row["authority_at"],
            approval_id=row["authority_approval"],
            files=tuple((path, identity) for path, identity in json.loads(row["authority_files"])),
        )
    return JobRecord(
        **fields(row, *_PLAIN),
        origin=_address(row, "origin"),
        target=_address(row, "target"),
        authority=authority,
        state=JobState(row["state"]),
        last=JobRun(*(row[name] for name in _RUNS)),
    )


def _address(row: RowMapping, prefix: str) -> Address:
    return Address(**{name: row[f"{prefix}_{name}"] for name in ADDRESS})
