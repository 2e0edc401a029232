"""Workflows and tasks as they are stored, and what may be asked of them. Times are UTC datetimes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, Protocol

from echo_bot.events import TurnId

NO_TURN = TurnId("")


class WorkflowState(StrEnum):
    """`paused`: a person or a timer lets it go on. `waiting`: for a step that is done by hand."""

    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_under_way(self) -> bool:
        return self in (WorkflowState.RUNNING, WorkflowState.PAUSED, WorkflowState.WAITING)


class StepState(StrEnum):
    """`unknown`: it had begun when the bot stopped, and nobody knows what it did."""

    PENDING = "pending"
    RUNNING = "running"
    RETRYING = "retrying"
    WAITING = "waiting"
    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self not in (StepState.PENDING, StepState.RUNNING, StepState.RETRYING, StepState.WAITING)


@dataclass(frozen=True, slots=True)
class StepRecord:
    """How far one step is. `attempt` counts from 1 once it began, the last in the turn of leg `leg`.

    `try_at` is when a retry is due.
    """

    step_id: str
    state: StepState = StepState.PENDING
    attempt: int = 0
    leg: int = 0
    output: str = ""
    error: str = ""
    try_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class WorkflowRecord:
    """One workflow. (owner, name) is unique; `steps_json` is its definition as it was written.

    `turn_id` runs it, or ran it last; `event_json` is the event of that turn, and `leg` counts the turns:
    each start and each resume begins one. `session_key` is the conversation that hears of its end.
    `resume_at`: when a paused one goes on by itself.
    """

    workflow_id: str
    owner: str
    name: str
    steps_json: str
    state: WorkflowState
    created_at: datetime
    changed_at: datetime
    session_key: str = ""
    turn_id: TurnId = NO_TURN
    event_json: str = ""
    leg: int = 0
    resume_at: datetime | None = None


class TaskState(StrEnum):
    OPEN = "open"
    STARTED = "started"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_closed(self) -> bool:
        return self not in (TaskState.OPEN, TaskState.STARTED)


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """Something to do. `instruction` is what the agent does when `start_at` comes; "" only reminds of it.

    `event_json` is the event of the turn that scheduled it: whom a scheduled start acts for, and where.
    `starts` counts those; `turn_id` is the turn of the last one, "" where none runs.
    """

    task_id: str
    owner: str
    title: str
    state: TaskState
    created_at: datetime
    changed_at: datetime
    notes: str = ""
    instruction: str = ""
    result: str = ""
    start_at: datetime | None = None
    event_json: str = ""
    turn_id: TurnId = NO_TURN
    starts: int = 0


Created = Literal["created", "replaced", "under_way", "full"]


class Workflows(Protocol):
    """Every method is one transaction; all raise StorageError and nothing else."""

    async def create(self, record: WorkflowRecord, steps: tuple[StepRecord, ...], most: int) -> Created:
        """Keep it, in the place of its owner's of that name.

        Nothing is changed when that one is under way, or when the owner has `most` of them already.
        """
        ...

    async def get(self, workflow_id: str) -> WorkflowRecord | None: ...

    async def named(self, owner: str, name: str) -> WorkflowRecord | None: ...

    async def list(self, owner: str | None, limit: int) -> tuple[WorkflowRecord, ...]:
        """Those that changed last first; of everybody for None."""
        ...

    async def in_state(self, state: WorkflowState) -> tuple[WorkflowRecord, ...]: ...

    async def change(
        self, before: WorkflowRecord, after: WorkflowRecord, steps: tuple[StepRecord, ...] = ()
    ) -> bool:
        """Write `after`, and `steps` over theirs.

        False, and nothing changed, if it is not as `before` any more.
        """
        ...

    async def steps(self, workflow_id: str) -> tuple[StepRecord, ...]: ...

    async def put_step(self, workflow_id: str, step: StepRecord) -> None: ...

    async def decide_step(self, workflow_id: str, step: StepRecord) -> bool:
        """Write a step that waits to be done by hand. False when it does not wait (any more)."""
        ...


class Tasks(Protocol):
    """Every method is one transaction; all raise StorageError and nothing else."""

    async def add(self, task: TaskRecord, most: int) -> bool:
        """False, and nothing changed, when its owner has `most` tasks that are not closed."""
        ...

    async def get(self, task_id: str) -> TaskRecord | None: ...

    async def list(
        self, owner: str | None, limit: int, states: tuple[TaskState, ...] = ()
    ) -> tuple[TaskRecord, ...]:
        """Oldest first, the last `limit` of them; of everybody for None, in any state without `states`."""
        ...

    async def scheduled(self) -> tuple[TaskRecord, ...]:
        """Open ones with a time to start, the earliest first."""
        ...

    async def under_way(self) -> tuple[TaskRecord, ...]:
        """Started ones that a turn of their own works at."""
        ...

    async def change(self, before: TaskRecord, after: TaskRecord) -> bool:
        """Write `after`. False, and nothing changed, if it is not as `before` any more."""
        ...
