"""What comes next: every step ends, none begins before what it needs, and the order is always the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.flows.conditions import Ended, Not, steps_in
from echo_bot.flows.definition import Step
from echo_bot.flows.progress import Outcome, Plan, after, begun, fresh, next_steps, state_of, stopping_steps
from echo_bot.storage.flow_records import StepRecord, StepState, WorkflowState

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
OK, FAILED, UNKNOWN = StepState.OK, StepState.FAILED, StepState.UNKNOWN
FINE, BROKEN = Outcome(True, "out"), Outcome(False, error="no", error_kind="business")


def step(name: str, *needs: str, on_failure: Literal["stop", "continue"] = "stop", **more: object) -> Step:
    made = Step(name, "tool", "exec", needs=needs, on_failure=on_failure)
    return replace(made, **more)  # type: ignore[arg-type]


def states(**found: StepState) -> dict[str, StepRecord]:
    return {name: StepRecord(name, state) for name, state in found.items()}


def names(plan: Plan) -> tuple[list[str], list[str], list[str]]:
    return (
        [each.step_id for each in plan.begin],
        [each.step_id for each in plan.by_hand],
        [each.step_id for each, _ in plan.skip],
    )


IF_A_FAILED = Ended("a", frozenset({FAILED, UNKNOWN}))
PENDING, RUNNING, SKIPPED, WAITING = (
    StepState.PENDING,
    StepState.RUNNING,
    StepState.SKIPPED,
    StepState.WAITING,
)

TABLE: tuple[tuple[str, tuple[Step, ...], dict[str, StepRecord], tuple[list[str], ...]], ...] = (
    ("what needs nothing begins", (step("a"), step("b")), states(a=PENDING, b=PENDING), (["a", "b"], [], [])),
    ("what needs another waits", (step("a"), step("b", "a")), states(a=RUNNING, b=PENDING), ([], [], [])),
    ("what is reached begins", (step("a"), step("b", "a")), states(a=OK, b=PENDING), (["b"], [], [])),
    (
        "a failure ends what follows, and what does not",
        (step("a"), step("b", "a"), step("c")),
        states(a=FAILED, b=PENDING, c=PENDING),
        ([], [], ["b", "c"]),
    ),
    (
        "unless a step asks for that failure",
        (step("a"), step("b", "a", when=IF_A_FAILED), step("c", "b")),
        states(a=FAILED, b=PENDING, c=PENDING),
        (["b"], [], ["c"]),
    ),
    (
        "an unknown outcome is a failure",
        (step("a"), step("b", "a")),
        states(a=UNKNOWN, b=PENDING),
        ([], [], ["b"]),
    ),
    (
        "on_failure continue lets what follows begin",
        (step("a", on_failure="continue"), step("b", "a")),
        states(a=UNKNOWN, b=PENDING),
        (["b"], [], []),
    ),
    (
        "a condition that does not hold leaves the step out",
        (step("a"), step("b", "a", when=IF_A_FAILED)),
        states(a=OK, b=PENDING),
        ([], [], ["b"]),
    ),
    (
        "what needs a skipped step is skipped",
        (step("a"), step("b", "a")),
        states(a=SKIPPED, b=PENDING),
        ([], [], ["b"]),
    ),
    (
        "unless its own condition says otherwise",
        (step("a"), step("b", "a", when=Not(IF_A_FAILED))),
        states(a=SKIPPED, b=PENDING),
        (["b"], [], []),
    ),
    (
        "what is done by hand waits for it, and takes no room",
        (step("a"), step("m", kind="manual"), step("b"), step("c")),
        states(a=RUNNING, m=PENDING, b=PENDING, c=PENDING),
        (["b"], ["m"], []),
    ),
    (
        "a failure ends the waiting for a hand",
        (step("a"), step("m", kind="manual")),
        states(a=FAILED, m=WAITING),
        ([], [], ["m"]),
    ),
)


@pytest.mark.parametrize(
    ("steps", "progress", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_the_plan(
    steps: tuple[Step, ...],
    progress: dict[str, StepRecord],
    expected: tuple[list[str], ...],
) -> None:
    assert names(next_steps(steps, progress, NOW, most_at_once=2)) == expected


def test_a_retry_waits_for_its_time() -> None:
    only = step("a", retries=1, retry_delay=30)
    waiting = after(only, begun(StepRecord("a"), leg=1), BROKEN, NOW)
    assert (waiting.state, waiting.try_at) == (StepState.RETRYING, NOW + timedelta(seconds=30))
    plan = next_steps((only,), {"a": waiting}, NOW, 1)
    assert (plan.begin, plan.look_again_at) == ((), NOW + timedelta(seconds=30))
    later = next_steps((only,), {"a": waiting}, NOW + timedelta(seconds=30), 1)
    assert later.begin == (only,)
    again = begun(waiting, leg=2)
    assert again == StepRecord("a", RUNNING, 2, 2)
    assert after(only, again, BROKEN, NOW).state is FAILED


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (FINE, OK),
        (BROKEN, StepState.RETRYING),
        (Outcome(False, error_kind="timeout"), StepState.RETRYING),
        (Outcome(False, error_kind="denied"), FAILED),
        (Outcome(False, error_kind="validation"), FAILED),
        (Outcome(False, error_kind="internal", is_unknown=True), UNKNOWN),
    ],
    ids=["done", "failed", "too slow", "a person said no", "wrong arguments", "unknown"],
)
def test_what_is_tried_again(outcome: Outcome, state: StepState) -> None:
    assert after(step("a", retries=3), begun(StepRecord("a"), 1), outcome, NOW).state is state


def test_how_a_run_ends() -> None:
    steps = (step("a", on_failure="continue"), step("b"))
    assert state_of(steps, states(a=FAILED, b=OK)) is WorkflowState.DONE
    assert state_of(steps, states(a=OK, b=FAILED)) is WorkflowState.FAILED
    assert state_of(steps, states(a=OK, b=WAITING)) is WorkflowState.WAITING
    assert stopping_steps(steps, states(a=OK, b=FAILED)) == ("b",)


@st.composite
def workflows(draw: st.DrawFn) -> tuple[Step, ...]:
    made: list[Step] = []
    for number in range(draw(st.integers(1, 9))):
        earlier = [each.step_id for each in made]
        needs = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=3)) if earlier else []
        asked = draw(st.sampled_from([None, *needs]))
        how = draw(st.sampled_from([frozenset({OK}), frozenset({FAILED, UNKNOWN}), frozenset({SKIPPED})]))
        made.append(
            Step(
                f"s{number}",
                draw(st.sampled_from(["tool", "agent", "manual"])),
                "exec",
                needs=tuple(needs),
                when=Ended(asked, how) if asked is not None else None,
                retries=draw(st.integers(0, 2)),
                on_failure=draw(st.sampled_from(["stop", "continue"])),
            )
        )
    return tuple(draw(st.permutations(made)))


OUTCOMES = st.sampled_from(
    [FINE, FINE, BROKEN, replace(BROKEN, error_kind="denied"), Outcome(False, is_unknown=True)]
)


def check_plan(steps: tuple[Step, ...], progress: dict[str, StepRecord], plan: Plan, most: int) -> None:
    ready = (*plan.begin, *plan.by_hand)
    assert all(progress[need].state.is_final for each in ready for need in each.needs)
    assert [each for each in steps if each in plan.begin] == list(plan.begin)
    running = sum(each.state is RUNNING for each in progress.values())
    assert running + len(plan.begin) <= most
    stopping = set(stopping_steps(steps, progress))
    assert not stopping or all(each.when and steps_in(each.when) & stopping for each in ready)
    assert next_steps(steps, progress, NOW, most) == plan


@given(workflows(), st.integers(1, 4), st.data())
def test_every_step_ends_and_none_begins_before_what_it_needs(
    steps: tuple[Step, ...], most: int, data: st.DataObject
) -> None:
    progress = {each.step_id: each for each in fresh(steps)}
    by_id = {each.step_id: each for each in steps}
    begun_ids: list[tuple[str, int]] = []
    for _ in range(len(steps) * 8 + 1):
        plan = next_steps(steps, progress, NOW, most)
        check_plan(steps, progress, plan, most)
        for each, why in plan.skip:
            assert why
            progress[each.step_id] = StepRecord(each.step_id, SKIPPED)
        for each in plan.by_hand:
            progress[each.step_id] = StepRecord(each.step_id, WAITING)
        for each in plan.begin:
            progress[each.step_id] = begun(progress[each.step_id], 1)
            begun_ids.append((each.step_id, progress[each.step_id].attempt))
        open_ones = [name for name, at in progress.items() if at.state in (RUNNING, WAITING)]
        if not open_ones and not plan.skip:
            break
        if open_ones:
            chosen = data.draw(st.sampled_from(sorted(open_ones)))
            at, outcome = progress[chosen], data.draw(OUTCOMES)
            if at.state is WAITING:
                progress[chosen] = StepRecord(chosen, OK if outcome.ok else FAILED)
            else:
                progress[chosen] = after(by_id[chosen], at, outcome, NOW)
    assert all(each.state.is_final for each in progress.values())
    assert state_of(steps, progress) in (WorkflowState.DONE, WorkflowState.FAILED)
    assert len(begun_ids) == len(set(begun_ids))
    assert all(at.attempt <= by_id[name].retries + 1 for name, at in progress.items())


Read = Callable[..., tuple[Step, ...]]


def test_steps_as_they_are_written_make_a_plan(read: Read) -> None:
    steps = read({"id": "a", "manual": "x"}, {"id": "b", "tool": "exec", "args": {"command": "${a.output}"}})
    plan = next_steps(steps, {each.step_id: each for each in fresh(steps)}, NOW, 4)
    assert names(plan) == ([], ["a"], [])
