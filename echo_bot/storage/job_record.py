"""A scheduled job as it is stored, and what may be asked of the table of jobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, Protocol

from echo_bot.events import Address, EventId

JobKind = Literal["job", "inspection"]
"""Made by somebody with `cronjob`, or the checklist of the configuration."""


class JobState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    DISABLED = "disabled"
    DONE = "done"


RunState = Literal["", "running", "done", "failed", "stopped"]
_NONE = EventId("")


@dataclass(frozen=True, slots=True)
class Authority:
    """What a person allowed: `digest` is of exactly what the job was then.

    `files` are the scripts that its command names, each path with the identity that it had.
    """

    digest: str
    by: str
    at: datetime
    approval_id: str
    files: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class JobRun:
    """The last run. `event_id` derives from the job and from when the run was due."""

    event_id: EventId = _NONE
    due: datetime | None = None
    state: RunState = ""
    error: str = ""
    ended_at: datetime | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class JobRecord:
    """One job. Times are UTC; `schedule` is read as written at `set_at` on the wall clock of `zone`.

    `owner` is whose job it is, `origin` the chat where it was made, `target` where its answers go.
    `asked_at`: somebody wants it to run now. `note` says why it is in its state. `failures` counts since the
    last success, of which people were `told`. `revision` rises with every change of what the job is.
    """

    job_id: str
    name: str
    owner: str
    origin: Address
    memory_scope: str
    schedule: str
    zone: str
    set_at: datetime
    instruction: str
    target: Address
    created_at: datetime
    kind: JobKind = "job"
    authority: Authority | None = None
    state: JobState = JobState.ACTIVE
    note: str = ""
    next_at: datetime | None = None
    asked_at: datetime | None = None
    last: JobRun = JobRun()
    failures: int = 0
    told: bool = False
    revision: int = 0

    @property
    def is_running(self) -> bool:
        return self.last.state == "running"


class Jobs(Protocol):
    """Every method is one transaction; all raise StorageError and nothing else."""

    async def add(self, job: JobRecord) -> bool:
        """False when its owner has one of that name, or the id is taken."""
        ...

    async def get(self, job_id: str) -> JobRecord | None: ...

    async def list(self, owner: str | None = None) -> tuple[JobRecord, ...]:
        """Oldest first; of everybody for None."""
        ...

    async def change(self, job: JobRecord) -> bool:
        """Store what the job is, may do and waits for, and raise its revision.

        False, and nothing changed, when somebody changed it since it was read or its new name is taken. How
        its runs went is left alone.
        """
        ...

    async def delete(self, job_id: str) -> bool: ...

    async def forget_done(self, before: datetime) -> int:
        """Drop those whose only run ended before that; how many."""
        ...

    async def ask(self, job_id: str, at: datetime) -> bool:
        """Somebody wants it to run now. False while it runs or is asked for already, or is not there."""
        ...

    async def claim(self, job: JobRecord, run: JobRun, next_at: datetime | None, state: JobState) -> bool:
        """Take the occurrence that `job` was read with, once, and note its run.

        False when it was taken, the job runs, or it was changed since.
        """
        ...

    async def skip(self, job: JobRecord, next_at: datetime | None, state: JobState, note: str) -> bool:
        """Let the occurrence that `job` was read with pass, once."""
        ...

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
        """How the run of that event ended. False when that is known already."""
        ...
