"""What may be done with tasks: created, listed, started now or later, completed, cancelled, tried again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from echo_bot.approval.escape import escape_line
from echo_bot.events import TurnId
from echo_bot.flows.events import kept_event
from echo_bot.flows.said import Caller, Said, refused
from echo_bot.session import TurnStarter, event_from_json, event_to_json
from echo_bot.storage.flow_records import NO_TURN, TaskRecord, TaskState
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import TurnState

MOST_TASKS = 500
_MOST_LISTED = 100
_MOST_TITLE_CHARS = 200
_MOST_TEXT_CHARS = 8000
_GONE = "it changed at this moment; look at it and try again"

STEPS: Mapping[str, tuple[frozenset[TaskState], TaskState]] = {
    "start": (frozenset({TaskState.OPEN}), TaskState.STARTED),
    "complete": (frozenset({TaskState.OPEN, TaskState.STARTED}), TaskState.DONE),
    "fail": (frozenset({TaskState.OPEN, TaskState.STARTED}), TaskState.FAILED),
    "cancel": (frozenset({TaskState.OPEN, TaskState.STARTED}), TaskState.CANCELLED),
    "retry": (frozenset({TaskState.FAILED, TaskState.CANCELLED}), TaskState.OPEN),
}
"""From which states each action leads where."""

_ENDS = {TurnState.DONE: TaskState.DONE, TurnState.STOPPED: TaskState.CANCELLED}


class Tasks:
    """Owners and admins see and change a task; only its owner schedules it, since it then acts for them."""

    def __init__(
        self,
        store: Store,
        starter: TurnStarter,
        *,
        wake_timers: Callable[[], None],
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        self._store, self._starter, self._wake_timers = store, starter, wake_timers
        self._clock, self._new_id = clock, new_id

    async def create(
        self, caller: Caller, title: str, *, notes: str, instruction: str, start_at: datetime | None
    ) -> Said:
        problem = _problem_of(title, notes, instruction)
        if problem:
            return refused(problem)
        if instruction and start_at is None:
            return refused("instruction is what happens at start_at; without a time, write it into notes")
        if start_at is not None and (caller.is_worker or (instruction and caller.event.unattended)):
            return refused(_NO_SCHEDULING)
        now = self._clock()
        task = TaskRecord(
            self._new_id(), caller.owner, title.strip(), TaskState.OPEN, now, now, notes, instruction
        )
        if not await self._store.tasks.add(_scheduled(task, start_at, caller), MOST_TASKS):
            return refused(f"{MOST_TASKS} tasks are open already; complete or cancel some first")
        self._wake_timers()
        return Said(f"Created: {_line(replace(task, start_at=start_at))}")

    async def list(self, caller: Caller, *, state: TaskState | None, everybody: bool) -> Said:
        if everybody and not caller.is_admin:
            return refused("only an admin who is there may list everybody's")
        owner = None if everybody else caller.owner
        found = await self._store.tasks.list(owner, _MOST_LISTED, (state,) if state else ())
        lines = [_line(each) + (f", of {each.owner}" if everybody else "") for each in found]
        return Said("\n".join(lines) or "There are no such tasks.")

    async def get(self, caller: Caller, task_id: str) -> Said:
        task = await self._visible(caller, task_id)
        return task if isinstance(task, Said) else Said(_told(task))

    async def start(self, caller: Caller, task_id: str, start_at: datetime | None) -> Said:
        """Now, by whoever calls; or by itself at `start_at`."""
        task = await self._visible(caller, task_id)
        if isinstance(task, Said) or start_at is None:
            return task if isinstance(task, Said) else await self._step(task, "start")
        return await self._schedule(caller, task, start_at, STEPS["start"][0])

    async def retry(self, caller: Caller, task_id: str, start_at: datetime | None) -> Said:
        task = await self._visible(caller, task_id)
        if isinstance(task, Said) or start_at is None:
            return task if isinstance(task, Said) else await self._step(task, "retry")
        return await self._schedule(caller, task, start_at, STEPS["retry"][0])

    async def close(self, caller: Caller, task_id: str, action: str, result: str) -> Said:
        """`action` is complete, fail or cancel. A turn that works at a task that is cancelled is stopped."""
        task = await self._visible(caller, task_id)
        if isinstance(task, Said):
            return task
        said = await self._step(task, action, result)
        if said.ok and action == "cancel" and task.turn_id and task.turn_id != caller.turn.turn_id:
            await self._starter.stop(task.turn_id)
        return said

    async def stop_session(self, session_key: str) -> int:
        """Stop the turns that work at tasks which were scheduled in a conversation; how many."""
        working = [
            task
            for task in await self._store.tasks.under_way()
            if event_from_json(task.event_json).session_key_override == session_key
        ]
        return sum([bool(await self._starter.stop(task.turn_id)) for task in working])

    async def settle(self, task: TaskRecord, turn_id: TurnId) -> None:
        """The turn that worked at it is over; where it did not say how it went, its own end says it."""
        turn = await self._store.turns.get(turn_id)
        if turn is not None and not turn.state.is_final:
            return
        now = await self._store.tasks.get(task.task_id)
        if now is None or now.state is not TaskState.STARTED or now.turn_id != turn_id:
            return
        state = _ENDS.get(turn.state, TaskState.FAILED) if turn is not None else TaskState.FAILED
        result = now.result or (turn.error if turn is not None else "its turn is not there any more")
        closed = replace(now, state=state, turn_id=NO_TURN, result=result, changed_at=self._clock())
        await self._store.tasks.change(now, closed)

    async def _step(self, task: TaskRecord, action: str, result: str = "") -> Said:
        possible, state = STEPS[action]
        if task.state not in possible:
            there = " or ".join(sorted(each.value for each in possible))
            return refused(f"task {task.task_id} is {task.state.value}; {action} is for one that is {there}")
        changed = replace(
            task,
            state=state,
            result=result if state.is_closed else "",
            start_at=None,
            turn_id=NO_TURN,
            changed_at=self._clock(),
        )
        if not await self._store.tasks.change(task, changed):
            return refused(_GONE)
        return Said(_told(changed) if action == "start" else _line(changed))

    async def _schedule(
        self, caller: Caller, task: TaskRecord, start_at: datetime, possible: frozenset[TaskState]
    ) -> Said:
        if caller.is_worker or caller.event.unattended or task.owner != caller.owner:
            return refused(_NO_SCHEDULING)
        if task.state not in possible:
            return refused(f"task {task.task_id} is {task.state.value} and cannot be scheduled")
        opened = replace(task, state=TaskState.OPEN, result="", changed_at=self._clock())
        scheduled = _scheduled(opened, start_at, caller)
        if not await self._store.tasks.change(task, scheduled):
            return refused(_GONE)
        self._wake_timers()
        return Said(_line(scheduled))

    async def _visible(self, caller: Caller, task_id: str) -> TaskRecord | Said:
        task = await self._store.tasks.get(task_id.strip())
        if task is None or not caller.may_see(task.owner):
            return refused(f"there is no task {escape_line(task_id)!r} of yours; the action list names them")
        return task


_NO_SCHEDULING = "only its owner schedules it, in a conversation: it then acts for them, with nobody there"


def _scheduled(task: TaskRecord, start_at: datetime | None, caller: Caller) -> TaskRecord:
    if start_at is None:
        return task
    return replace(task, start_at=start_at, event_json=event_to_json(kept_event(caller.turn, caller.event)))


def _problem_of(title: str, notes: str, instruction: str) -> str:
    if not 0 < len(title.strip()) <= _MOST_TITLE_CHARS or "\n" in title.strip():
        return f"title is 1 to {_MOST_TITLE_CHARS} characters on one line; put the rest into notes"
    if max(len(notes), len(instruction)) > _MOST_TEXT_CHARS:
        return f"notes and instruction have at most {_MOST_TEXT_CHARS:,} characters; keep long texts in files"
    return ""


def _line(task: TaskRecord) -> str:
    when = f", starts {task.start_at:%Y-%m-%d %H:%M} UTC" if task.start_at else ""
    result = f": {task.result.strip().splitlines()[0][:100]}" if task.result.strip() else ""
    return f"{task.task_id} {escape_line(task.title)} ({task.state.value}{when}){result}"


def _told(task: TaskRecord) -> str:
    parts = (("notes", task.notes), ("instruction", task.instruction), ("result", task.result))
    return "\n".join((_line(task), *(f"{name}: {text}" for name, text in parts if text)))
