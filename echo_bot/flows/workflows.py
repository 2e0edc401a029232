"""What may be done with workflows: created, started, looked at, paused, resumed, advanced, cancelled."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from echo_bot.approval.escape import escape_line
from echo_bot.events import Identity, InboundEvent, TurnId
from echo_bot.flows.checking import ToolBook, problem_of
from echo_bot.flows.definition import BadDefinition, Step, read_steps
from echo_bot.flows.events import leg_event, timer_event
from echo_bot.flows.nudges import Nudges
from echo_bot.flows.progress import Progress, fresh
from echo_bot.flows.said import Caller, Said, refused
from echo_bot.flows.shown import headline, told
from echo_bot.session import TurnStarter, event_from_json, event_to_json, turn_id_of
from echo_bot.storage.flow_records import StepRecord, StepState, WorkflowRecord, WorkflowState
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import TurnRecord, TurnState
from echo_bot.text.counted import counted

log = structlog.get_logger(__name__)

MOST_WORKFLOWS = 100
MOST_RUNNING = 10
_MOST_NAME_CHARS = 60
_MOST_LISTED = 50
_GONE = "it changed at this moment; look at its status and try again"

Admits = Callable[[Identity], Awaitable[bool]]
"""May this person use the bot?"""

TellEnd = Callable[[WorkflowRecord], Awaitable[None]]
"""Told of a run that is over although its turn did not say so."""

CloseQuestions = Callable[[Iterable[TurnId], str], Awaitable[None]]
"""Close the open questions of turns that were stopped, with the reason."""


@dataclass(frozen=True, slots=True)
class _Found:
    record: WorkflowRecord
    steps: tuple[Step, ...]
    progress: Progress


class Workflows:
    """Only the owner lets one run: its steps act for whoever starts it. Admins may look, pause and cancel.

    `wake_timers` is told when something is to happen later. Ids are `new_id`'s. `tell_end` is set by the
    composition root as its last step.
    """

    tell_end: TellEnd

    def __init__(
        self,
        store: Store,
        starter: TurnStarter,
        nudges: Nudges,
        *,
        close_questions: CloseQuestions,
        wake_timers: Callable[[], None],
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        self._store, self._starter, self._nudges = store, starter, nudges
        self._close_questions, self._wake_timers = close_questions, wake_timers
        self._clock, self._new_id = clock, new_id

    async def create(self, caller: Caller, name: str, raw_steps: object, tools: ToolBook) -> Said:
        problem = _problem_of_name(name)
        if problem:
            return refused(problem)
        try:
            steps = read_steps(raw_steps)
        except BadDefinition as error:
            return refused(str(error))
        problem = problem_of(steps, tools)
        if problem:
            return refused(problem)
        now = self._clock()
        record = WorkflowRecord(
            workflow_id=self._new_id(),
            owner=caller.owner,
            name=name.strip(),
            steps_json=json.dumps(raw_steps, ensure_ascii=False),
            state=WorkflowState.CREATED,
            created_at=now,
            changed_at=now,
        )
        match await self._store.workflows.create(record, fresh(steps), MOST_WORKFLOWS):
            case "under_way":
                return refused(f"{record.name} is under way; cancel it first, or take another name")
            case "full":
                return refused(f"there are {MOST_WORKFLOWS} workflows already; use the name of one again")
            case how:
                made = (
                    f"Workflow {record.name} {how} (id {record.workflow_id}), {counted(len(steps), 'step')}"
                )
                return Said(f"{made}; action start begins it.")

    async def start(self, caller: Caller, name: str) -> Said:
        found = await self._own(caller, name)
        if isinstance(found, Said):
            return found
        if found.record.state.is_under_way:
            return refused(f"{headline(found.record, found.steps, found.progress)}; it is started already")
        running = await self._store.workflows.in_state(WorkflowState.RUNNING)
        if sum(each.owner == caller.owner for each in running) >= MOST_RUNNING:
            return refused(f"{MOST_RUNNING} workflows run already; wait for one to end, or cancel one")
        return await self._begin(caller, found, fresh(found.steps))

    async def resume(self, caller: Caller, name: str) -> Said:
        found = await self._own(caller, name)
        if isinstance(found, Said):
            return found
        if found.record.state is not WorkflowState.PAUSED:
            return refused(
                f"{headline(found.record, found.steps, found.progress)}; only a paused one resumes"
            )
        return await self._begin(caller, found)

    async def advance(self, caller: Caller, name: str, step_id: str, *, is_done: bool, note: str) -> Said:
        """Somebody did the step by hand, or could not."""
        found = await self._own(caller, name)
        if isinstance(found, Said):
            return found
        waiting = [each.step_id for each in found.progress.values() if each.state is StepState.WAITING]
        if step_id not in waiting or not found.record.state.is_under_way:
            those = f"; these do: {', '.join(waiting)}" if waiting else ""
            return refused(f"no step {step_id[:64]!r} waits to be done by hand{those}")
        decided = (
            StepRecord(step_id, StepState.OK, output=note)
            if is_done
            else StepRecord(step_id, StepState.FAILED, error=note or "it was not done")
        )
        if not await self._store.workflows.decide_step(found.record.workflow_id, decided):
            return refused(_GONE)
        self._nudges.nudge(found.record.workflow_id)
        record = await self._store.workflows.get(found.record.workflow_id)
        if record is not None and record.state is WorkflowState.WAITING:
            await self._begin(caller, replace(found, record=record))
        return await self.status(caller, found.record.workflow_id)

    async def pause(self, caller: Caller, name: str, resume_at: datetime | None) -> Said:
        """Steps under way are finished, the others held."""
        found = await self._visible(caller, name)
        if isinstance(found, Said):
            return found
        record = found.record
        if record.state not in (WorkflowState.RUNNING, WorkflowState.PAUSED):
            return refused(f"{headline(record, found.steps, found.progress)}; only a running one is paused")
        paused = replace(record, state=WorkflowState.PAUSED, resume_at=resume_at, changed_at=self._clock())
        if not await self._store.workflows.change(record, paused):
            return refused(_GONE)
        self._nudges.nudge(record.workflow_id)
        self._wake_timers()
        running = [each.step_id for each in found.progress.values() if each.state is StepState.RUNNING]
        also = f" Under way until they end: {', '.join(running)}." if running else ""
        return Said(f"{headline(paused, found.steps, found.progress)}.{also}")

    async def cancel(self, caller: Caller, name: str) -> Said:
        found = await self._visible(caller, name)
        if isinstance(found, Said):
            return found
        if not found.record.state.is_under_way:
            return refused(
                f"{headline(found.record, found.steps, found.progress)}; there is nothing to cancel"
            )
        if not await self._cancel(found.record):
            return refused(_GONE)
        return await self.status(caller, found.record.workflow_id)

    async def status(self, caller: Caller, name: str) -> Said:
        found = await self._visible(caller, name)
        return found if isinstance(found, Said) else Said(told(found.record, found.steps, found.progress))

    async def list(self, caller: Caller, *, everybody: bool) -> Said:
        if everybody and not caller.is_admin:
            return refused("only an admin who is there may list everybody's")
        records = await self._store.workflows.list(None if everybody else caller.owner, _MOST_LISTED)
        lines = [
            f"{escape_line(each.name)} (id {each.workflow_id}): {each.state.value}"
            + (f", of {each.owner}" if everybody else "")
            for each in [await self._settled(record) for record in records]
        ]
        return Said("\n".join(lines) or "There are no workflows.")

    async def resume_by_timer(self, record: WorkflowRecord, *, is_admitted: bool) -> bool:
        """Its time has come, and nobody is there. False when somebody else changed it.

        For an owner who is not admitted any more it stays paused.
        """
        if not is_admitted:
            return await self._store.workflows.change(record, replace(record, resume_at=None))
        try:
            event = timer_event(record, event_from_json(record.event_json), record.leg + 1)
        except ValueError as error:
            return await self._unreadable(record, error)
        return await self._start_leg(record, event, record.turn_id, record.session_key)

    async def take_up(self, admits: Admits) -> None:
        """Queue runs whose turn a crash left unqueued; end those whose turn ended without saying so.

        Those of an owner whom `admits` refuses by now are cancelled.
        """
        for record in await self._store.workflows.in_state(WorkflowState.RUNNING):
            if await self._store.turns.get(record.turn_id) is not None:
                await self._settled(record)
                continue
            if not await admits(Identity.parse(record.owner)):
                await self._end(record, WorkflowState.CANCELLED, StepState.CANCELLED)
                continue
            try:
                await self._starter.start(event_from_json(record.event_json), kind="workflow")
            except ValueError as error:
                await self._unreadable(record, error)

    async def stop_session(self, session_key: str) -> int:
        """Cancel what was started in a conversation and runs; how many."""
        running = await self._store.workflows.in_state(WorkflowState.RUNNING)
        return sum([await self._cancel(each) for each in running if each.session_key == session_key])

    async def _begin(self, caller: Caller, found: _Found, steps: tuple[StepRecord, ...] = ()) -> Said:
        record = found.record
        event = leg_event(record, caller.turn, caller.event, record.leg + 1)
        if not await self._start_leg(record, event, caller.turn.turn_id, caller.turn.session_key, steps):
            return refused(_GONE)
        running = replace(record, state=WorkflowState.RUNNING, resume_at=None)
        progress = {**found.progress, **{each.step_id: each for each in steps}}
        line = headline(running, found.steps, progress)
        where = "It goes on in the background; you hear of its end at the next message."
        return Said(f"{line} (id {record.workflow_id}). {where}")

    async def _start_leg(
        self,
        record: WorkflowRecord,
        event: InboundEvent,
        parent: TurnId,
        session_key: str,
        steps: tuple[StepRecord, ...] = (),
    ) -> bool:
        """Stored before it is queued: what a crash leaves between the two, `take_up` queues."""
        running = replace(
            record,
            state=WorkflowState.RUNNING,
            leg=record.leg + 1,
            turn_id=turn_id_of(event),
            event_json=event_to_json(event),
            session_key=session_key,
            resume_at=None,
            changed_at=self._clock(),
        )
        if not await self._store.workflows.change(record, running, steps):
            return False
        await self._starter.start(event, kind="workflow", parent=parent)
        return True

    async def _own(self, caller: Caller, name: str) -> _Found | Said:
        """One of the caller's own, to let it run."""
        if caller.is_worker:
            return refused("a worker lets no workflow run; say in your answer that it should be")
        found = await self._visible(caller, name)
        if isinstance(found, _Found) and found.record.owner != caller.owner:
            return refused("only its owner lets it run, since its steps act for whoever does; create it anew")
        return found

    async def _visible(self, caller: Caller, name: str) -> _Found | Said:
        record = await self._store.workflows.named(caller.owner, name.strip())
        record = record or await self._store.workflows.get(name.strip())
        if record is None or not caller.may_see(record.owner):
            return refused(f"there is no workflow {escape_line(name)!r} of yours; the action list names them")
        record = await self._settled(record)
        try:
            steps = read_steps(json.loads(record.steps_json))
        except BadDefinition as error:
            return refused(f"{record.name} cannot be read by this version ({error}); create it anew")
        stored = await self._store.workflows.steps(record.workflow_id)
        return _Found(record, steps, {each.step_id: each for each in stored})

    async def _settled(self, record: WorkflowRecord) -> WorkflowRecord:
        """The record, brought to an end where its turn ended without doing so; then that is told."""
        if record.state is not WorkflowState.RUNNING:
            return record
        turn = await self._store.turns.get(record.turn_id)
        if turn is None or not turn.state.is_final:
            return record
        await self._starter.queues.ended(record.turn_id)
        was_left = await self._end(record, *_end_of(turn))
        now = await self._store.workflows.get(record.workflow_id) or record
        if was_left:
            await self.tell_end(now)
        return now

    async def _unreadable(self, record: WorkflowRecord, error: ValueError) -> bool:
        """This version cannot read for whom it runs."""
        log.error("workflow_unreadable", workflow=record.workflow_id, error=str(error))
        return await self._end(record, WorkflowState.FAILED, StepState.UNKNOWN)

    async def _cancel(self, record: WorkflowRecord) -> bool:
        is_cancelled = await self._end(record, WorkflowState.CANCELLED, StepState.CANCELLED)
        if is_cancelled:
            await self._starter.stop(record.turn_id)
            await self._close_questions((record.turn_id,), "the workflow was cancelled")
        return is_cancelled

    async def _end(self, record: WorkflowRecord, state: WorkflowState, running: StepState) -> bool:
        ended = replace(record, state=state, resume_at=None, changed_at=self._clock())
        steps = cut_short(await self._store.workflows.steps(record.workflow_id), running)
        return await self._store.workflows.change(record, ended, steps)


def cut_short(steps: Iterable[StepRecord], running: StepState) -> tuple[StepRecord, ...]:
    """The steps of a run that ends here: what is under way is `running` from now on, the rest cancelled."""
    return tuple(
        replace(each, state=running if each.state is StepState.RUNNING else StepState.CANCELLED, try_at=None)
        for each in steps
        if not each.state.is_final
    )


def _end_of(turn: TurnRecord) -> tuple[WorkflowState, StepState]:
    if turn.state is TurnState.STOPPED:
        return WorkflowState.CANCELLED, StepState.CANCELLED
    return WorkflowState.FAILED, StepState.UNKNOWN


def _problem_of_name(name: str) -> str:
    if 0 < len(name.strip()) <= _MOST_NAME_CHARS and name.strip().isprintable():
        return ""
    return f"name is 1 to {_MOST_NAME_CHARS} characters on one line"
