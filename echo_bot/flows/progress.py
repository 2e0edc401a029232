"""How far a run is and what comes next: from the steps and their states to a plan, without effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from echo_bot.flows.conditions import holds, steps_in
from echo_bot.flows.definition import Step
from echo_bot.storage.flow_records import StepRecord, StepState, WorkflowState

Progress = Mapping[str, StepRecord]
"""The state of every step, by id."""

MOST_OUTPUT_CHARS = 20_000
_BROKEN = (StepState.FAILED, StepState.UNKNOWN)
_NOT_RETRIED = frozenset({"denied", "validation"})


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do now: steps that begin, that somebody must do by hand, and that are left out with a reason.

    `look_again_at`: when the first retry is due that must wait for its time.
    """

    begin: tuple[Step, ...] = ()
    by_hand: tuple[Step, ...] = ()
    skip: tuple[tuple[Step, str], ...] = ()
    look_again_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one attempt came to. `is_unknown`: it may have run before a crash."""

    ok: bool
    output: str = ""
    error: str = ""
    error_kind: str = ""
    is_unknown: bool = False


def fresh(steps: Sequence[Step]) -> tuple[StepRecord, ...]:
    return tuple(StepRecord(step.step_id) for step in steps)


def next_steps(steps: Sequence[Step], progress: Progress, now: datetime, most_at_once: int) -> Plan:
    """The plan, in the order in which the steps are written; at most `most_at_once` of them run.

    After a failure that stops the workflow only steps go on whose condition asks for it.
    """
    stopping = stopping_steps(steps, progress)
    room = most_at_once - sum(record.state is StepState.RUNNING for record in progress.values())
    begin: list[Step] = []
    by_hand: list[Step] = []
    skip: list[tuple[Step, str]] = []
    due: list[datetime] = []
    for step in steps:
        record = progress[step.step_id]
        if record.state.is_final or record.state is StepState.RUNNING:
            continue
        if stopping and not _asks_for(step, stopping):
            skip.append((step, f"the workflow stopped at {stopping[0]}"))
        elif record.state is StepState.WAITING or not _is_reached(step, progress):
            continue
        elif record.state is StepState.PENDING and (why := _why_not(step, progress)):
            skip.append((step, why))
        elif step.kind == "manual":
            by_hand.append(step)
        elif record.try_at is not None and record.try_at > now:
            due.append(record.try_at)
        elif len(begin) < room:
            begin.append(step)
    return Plan(tuple(begin), tuple(by_hand), tuple(skip), min(due, default=None))


def stopping_steps(steps: Sequence[Step], progress: Progress) -> tuple[str, ...]:
    """The failed steps that stop the workflow."""
    failed = (step for step in steps if progress[step.step_id].state in _BROKEN)
    return tuple(step.step_id for step in failed if step.on_failure == "stop")


def state_of(steps: Sequence[Step], progress: Progress) -> WorkflowState:
    """Of a run in which nothing is under way and nothing can begin."""
    if all(record.state.is_final for record in progress.values()):
        return WorkflowState.FAILED if stopping_steps(steps, progress) else WorkflowState.DONE
    if any(record.state is StepState.WAITING for record in progress.values()):
        return WorkflowState.WAITING
    return WorkflowState.PAUSED


def begun(record: StepRecord, leg: int) -> StepRecord:
    """The next attempt is under way, in this leg of the run."""
    return StepRecord(record.step_id, StepState.RUNNING, record.attempt + 1, leg)


def after(step: Step, record: StepRecord, outcome: Outcome, now: datetime) -> StepRecord:
    """Where the step stands once its attempt came to this. What a person refused is not tried again."""
    ended = replace(
        record,
        output=outcome.output[:MOST_OUTPUT_CHARS],
        error=outcome.error[:MOST_OUTPUT_CHARS],
        try_at=None,
    )
    if outcome.ok:
        return replace(ended, state=StepState.OK)
    if outcome.is_unknown:
        return replace(ended, state=StepState.UNKNOWN)
    if record.attempt > step.retries or outcome.error_kind in _NOT_RETRIED:
        return replace(ended, state=StepState.FAILED)
    return replace(ended, state=StepState.RETRYING, try_at=now + timedelta(seconds=step.retry_delay))


def _asks_for(step: Step, ended: tuple[str, ...]) -> bool:
    return step.when is not None and not steps_in(step.when).isdisjoint(ended)


def _is_reached(step: Step, progress: Progress) -> bool:
    return all(progress[need].state.is_final for need in step.needs)


def _why_not(step: Step, progress: Progress) -> str:
    """Why a step that is reached is left out; "" when it runs."""
    if step.when is not None:
        return "" if holds(step.when, progress) else "its condition does not hold"
    missing = next((need for need in step.needs if progress[need].state is StepState.SKIPPED), "")
    return f"it needs {missing}, which was skipped" if missing else ""
