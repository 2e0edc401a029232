"""What a workflow's turn does: begins steps as their time comes, keeps what they came to, shows it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import structlog

from echo_bot.agent.journal import Journal
from echo_bot.agent.turn import Ended
from echo_bot.agent.workflow_end import Endings
from echo_bot.approval.escape import escape_line
from echo_bot.delivery import Delivery, LiveMessage
from echo_bot.errors import StorageError
from echo_bot.events import Address, SessionKey
from echo_bot.flows.definition import BadDefinition, Step, read_steps
from echo_bot.flows.events import workflow_of
from echo_bot.flows.nudges import Nudges
from echo_bot.flows.progress import Outcome, Plan, after, begun, next_steps, state_of
from echo_bot.flows.references import put_in, size_of
from echo_bot.flows.shown import headline, shown, told
from echo_bot.flows.workflows import cut_short
from echo_bot.session import Pausing
from echo_bot.storage.flow_records import StepRecord, StepState, WorkflowRecord, WorkflowState
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import TurnState
from echo_bot.text.language import _
from echo_bot.tools.base import ToolResult
from echo_bot.tools.runner import NOTE, ToolRunner, is_outcome_unknown
from echo_bot.tools.scope import CallJournal, TurnScope

log = structlog.get_logger(__name__)

MOST_ARGUMENT_CHARS = 1_000_000
"""Of one call, with the results of earlier steps in it."""


@dataclass(frozen=True, slots=True)
class FlowParts:
    """`most_at_once` bounds the steps of one workflow that run at a time.

    `offered` names the tools.
    """

    store: Store
    runner: ToolRunner
    delivery: Delivery
    pausing: Pausing
    nudges: Nudges
    most_at_once: int
    offered: Callable[[], frozenset[str]]
    endings: Endings
    mask: Callable[[str], str]
    clock: Callable[[], datetime]


class WorkflowTurns:
    """Runs workflows' turns, or goes on where their journals and the stored steps end."""

    def __init__(self, parts: FlowParts) -> None:
        self._parts = parts

    async def run(self, scope: TurnScope, journal: Journal) -> Ended:
        workflow_id, leg = workflow_of(scope.event)
        record = await self._parts.store.workflows.get(workflow_id)
        if record is None:
            return Ended(TurnState.FAILED, "the workflow is not there any more")
        try:
            steps = read_steps(json.loads(record.steps_json))
        except BadDefinition as error:
            ended = replace(record, state=WorkflowState.FAILED, changed_at=self._parts.clock())
            await self._parts.store.workflows.change(record, ended)
            return Ended(TurnState.FAILED, f"this version cannot read its steps: {error}")
        scope = replace(scope, allowed_tools=self._parts.offered(), watch=_Unwatched())
        stored = await self._parts.store.workflows.steps(workflow_id)
        with self._parts.nudges.listening(workflow_id) as nudged:
            run = _Run(self._parts, scope, journal, record, leg, steps, stored, nudged)
            return await run.to_its_end()


class _Run:
    """One leg of one run. Steps are tasks of their own; what is stored of them is written here alone."""

    def __init__(
        self,
        parts: FlowParts,
        scope: TurnScope,
        journal: Journal,
        record: WorkflowRecord,
        leg: int,
        steps: tuple[Step, ...],
        stored: tuple[StepRecord, ...],
        nudged: asyncio.Event,
    ) -> None:
        self._parts, self._scope, self._journal = parts, scope, journal
        self._workflows = parts.store.workflows
        self._record, self._leg, self._steps, self._nudged = record, leg, steps, nudged
        self._progress = {each.step_id: each for each in stored}
        self._under_way: set[asyncio.Task[None]] = set()
        self._live = LiveMessage(parts.delivery, parts.store.outbox, scope.turn_id, scope.event, parts.mask)

    async def to_its_end(self) -> Ended:
        try:
            await self._take_over()
            while await self._go_on():
                await self._wait()
            return await self._finish()
        except asyncio.CancelledError:
            await self._stop_steps()
            await self._stopped()
            raise
        except StorageError:
            await self._stop_steps()
            await self._live.drop()
            raise

    async def _take_over(self) -> None:
        """Steps that were under way: those of this leg go on by the journal, of others nobody knows."""
        by_id = {step.step_id: step for step in self._steps}
        for at in tuple(self._progress.values()):
            if at.state is not StepState.RUNNING:
                continue
            if at.leg == self._leg:
                self._begin(by_id[at.step_id], at)
            else:
                await self._keep(replace(at, state=StepState.UNKNOWN, error="nobody knows what came of it"))

    async def _go_on(self) -> bool:
        """Begin what can begin. False when this leg is over."""
        self._nudged.clear()
        await self._look()
        while self._may_begin():
            plan = next_steps(self._steps, self._progress, self._parts.clock(), self._parts.most_at_once)
            await self._follow(plan)
            if not plan.skip:
                break
        self._show()
        if self._under_way or not self._is_mine():
            return bool(self._under_way)
        if self._may_begin() and self._retry_at() is None:
            return not await self._conclude()
        return True

    async def _look(self) -> None:
        """What others changed: the workflow's state, and steps done by hand."""
        self._record = await self._workflows.get(self._record.workflow_id) or self._record
        for at in await self._workflows.steps(self._record.workflow_id):
            if self._progress[at.step_id].state is StepState.WAITING:
                self._progress[at.step_id] = at

    def _is_mine(self) -> bool:
        return self._record.leg == self._leg and self._record.state is WorkflowState.RUNNING

    def _may_begin(self) -> bool:
        return self._is_mine() and not self._parts.pausing.is_paused(self._session)

    @property
    def _session(self) -> SessionKey:
        return SessionKey(self._record.session_key)

    def _retry_at(self) -> datetime | None:
        plan = next_steps(self._steps, self._progress, self._parts.clock(), self._parts.most_at_once)
        return plan.look_again_at

    async def _follow(self, plan: Plan) -> None:
        for step, why in plan.skip:
            await self._keep(StepRecord(step.step_id, StepState.SKIPPED, error=why))
        for step in plan.by_hand:
            await self._keep(StepRecord(step.step_id, StepState.WAITING))
        for step in plan.begin:
            at = begun(self._progress[step.step_id], self._leg)
            await self._keep(at)
            self._begin(step, at)

    def _begin(self, step: Step, at: StepRecord) -> None:
        self._under_way.add(asyncio.create_task(self._attempt(step, at), name=f"step {step.step_id}"))

    async def _attempt(self, step: Step, at: StepRecord) -> None:
        key = f"step:{step.step_id}:{at.attempt}"
        outcome = _outcome(await self._call(step, key))
        await self._keep(after(step, at, outcome, self._parts.clock()))

    async def _call(self, step: Step, key: str) -> ToolResult:
        """Time that a person takes to decide does not count for the timeout."""
        size = sum(size_of(value, self._progress) for value in step.args.values())
        if size > MOST_ARGUMENT_CHARS:
            most = f"{MOST_ARGUMENT_CHARS:,} is the most"
            why = f"with the results its arguments have {size:,} characters; {most}"
            return ToolResult(False, error=f"{step.tool}: {why}", error_kind="validation")
        args = {name: put_in(value, self._progress) for name, value in step.args.items()}
        bound = asyncio.timeout(None)
        template = _("It is step {step} of workflow {name}")
        note = template.format(step=step.step_id, name=escape_line(self._record.name))
        timed = _Timed(self._journal, bound, step.timeout)
        scope = replace(self._scope, journal=timed, note=note)
        try:
            async with bound if step.timeout else nullcontext():
                return await self._parts.runner.run(scope, key, step.tool, args)
        except TimeoutError:
            why = f"{step.tool} took longer than the step's {step.timeout} s"
            result = ToolResult(False, error=why, error_kind="timeout")
            await self._journal.finish_call(key, result)
            return result

    async def _keep(self, at: StepRecord) -> None:
        self._progress[at.step_id] = at
        await self._workflows.put_step(self._record.workflow_id, at)

    async def _wait(self) -> None:
        """Until a step ends, a retry is due, a person acts, or a pause is over."""
        waits: list[Coroutine[Any, Any, object]] = [self._nudged.wait()]
        if self._parts.pausing.is_paused(self._session):
            waits.append(self._parts.pausing.wait_until_resumed(self._session))
        tasks = {asyncio.ensure_future(each) for each in waits}
        retry_at = self._retry_at()
        seconds = None if retry_at is None else max((retry_at - self._parts.clock()).total_seconds(), 0.0)
        try:
            await asyncio.wait(tasks | self._under_way, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.wait(tasks)
        ended = {each for each in self._under_way if each.done()}
        self._under_way -= ended
        for each in ended:
            each.result()

    async def _conclude(self) -> bool:
        """Store how it ended. False when somebody acted at this moment, so that it goes on."""
        state = state_of(self._steps, self._progress)
        ended = replace(self._record, state=state, changed_at=self._parts.clock())
        if not await self._workflows.change(self._record, ended):
            return False
        self._record = ended
        if state is not WorkflowState.WAITING or not self._nudged.is_set():
            return True
        # A step was done by hand while this was written down: whoever says so first goes on.
        return not await self._workflows.change(ended, replace(ended, state=WorkflowState.RUNNING))

    async def _finish(self) -> Ended:
        """Say it and end what is its own. A turn that is revived here says the same again, once."""
        text = self._text()
        await self._live.finish(text)
        if self._record.state.is_under_way or self._record.leg != self._leg:
            return Ended(result=text)
        await self._parts.endings.close(self._record, self._steps, self._progress)
        if self._record.state is WorkflowState.FAILED:
            return Ended(TurnState.FAILED, self._headline(), told(self._record, self._steps, self._progress))
        return Ended(result=told(self._record, self._steps, self._progress))

    async def _stop_steps(self) -> None:
        for task in self._under_way:
            task.cancel()
        if self._under_way:
            await asyncio.wait(self._under_way)
        for task in self._under_way:
            if not task.cancelled() and (error := task.exception()) is not None:
                log.error("step_broken", task=task.get_name(), error=str(error))

    async def _stopped(self) -> None:
        """After /stop or cancel it says so; a bot that stops lets it go on later."""
        turn = await self._parts.store.turns.get(self._scope.turn_id)
        if turn is None or not turn.state.is_final:
            await self._live.drop(patience_seconds=0)
            return
        await self._look()
        if self._is_mine():
            ended = replace(self._record, state=WorkflowState.CANCELLED, changed_at=self._parts.clock())
            cut = cut_short(self._progress.values(), StepState.CANCELLED)
            if await self._workflows.change(self._record, ended, cut):
                self._record = ended
        self._progress = {
            each.step_id: each for each in await self._workflows.steps(self._record.workflow_id)
        }
        await self._finish()

    def _show(self) -> None:
        self._live.show(self._text())

    def _text(self) -> str:
        """A leg that another follows ends as paused: the other one has a message of its own."""
        is_over = self._record.leg != self._leg
        record = replace(self._record, state=WorkflowState.PAUSED) if is_over else self._record
        return shown(record, self._steps, self._progress, self._live.most_chars)

    def _headline(self) -> str:
        return headline(self._record, self._steps, self._progress)


class _Timed:
    """Implements `CallJournal`: the call's time begins to count when the call does."""

    def __init__(self, journal: CallJournal, bound: asyncio.Timeout, seconds: int) -> None:
        self._journal, self._bound, self._seconds = journal, bound, seconds

    def result(self, key: str) -> ToolResult | None:
        return self._journal.result(key)

    def was_started(self, key: str) -> bool:
        return self._journal.was_started(key)

    async def start_call(self, key: str, tool: str) -> None:
        await self._journal.start_call(key, tool)
        if self._seconds:
            self._bound.reschedule(asyncio.get_running_loop().time() + self._seconds)

    async def finish_call(self, key: str, result: ToolResult) -> None:
        await self._journal.finish_call(key, result)


class _Unwatched:
    """Implements `CallWatch`: a step's call is shown in the workflow's own message."""

    def began(
        self, call_id: str, tool: str, address: Address, session_key: SessionKey, requester: str
    ) -> None: ...

    def ended(self, call_id: str, how: str) -> None: ...


def what_it_said(result: ToolResult) -> str:
    """What a step hands on: the output without notes on the call, of a command what it printed."""
    output = result.output.removeprefix(str(result.metadata.get(NOTE, ""))).lstrip("\n")
    first, _, rest = output.partition("\n")
    head = f"exit code {result.metadata.get('exit_code')}"
    return (rest if first in (head, f"{head}, no output") else output).rstrip("\n")


def _outcome(result: ToolResult) -> Outcome:
    return Outcome(
        ok=result.success,
        output=what_it_said(result),
        error=result.error,
        error_kind=result.error_kind or "",
        is_unknown=is_outcome_unknown(result),
    )
