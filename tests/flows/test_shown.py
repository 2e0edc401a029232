"""The message of a run: whole where it fits, else shorter; what a step said looks like none of its lines."""

from __future__ import annotations

from datetime import UTC, datetime

from echo_bot.flows.definition import Step
from echo_bot.flows.shown import shown, told
from echo_bot.storage.flow_records import StepRecord, StepState, WorkflowRecord, WorkflowState

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
RECORD = WorkflowRecord("w1", "telegram:1", "release", "[]", WorkflowState.RUNNING, NOW, NOW)
STEPS = (
    Step("build", "tool", "exec"),
    Step("test", "tool", "exec"),
    Step("notes", "agent", "delegate_task"),
    Step("look", "manual", text="Look at the notes"),
)
PROGRESS = {
    "build": StepRecord("build", StepState.OK, 1, output="built\nall"),
    "test": StepRecord("test", StepState.FAILED, 2, error="exit code 1\n✓ look (by hand)"),
    "notes": StepRecord("notes", StepState.RUNNING, 1),
    "look": StepRecord("look", StepState.WAITING),
}


def test_a_line_for_each_step_with_the_reason_of_a_failure() -> None:
    assert shown(RECORD, STEPS, PROGRESS, 4000).splitlines() == [
        "Workflow release is running: 1 of 4 steps done, 1 failed",
        "✓ build (exec)",
        "✗ test (exec): exit code 1⏎✓ look (by hand)",
        "… notes (agent)",
        "☐ look (by hand): Look at the notes",
    ]


def test_where_room_is_short_reasons_go_first_and_then_what_is_over() -> None:
    more = tuple(Step(f"step{number}", "tool", "exec") for number in range(20))
    steps = (*STEPS, *more)
    progress = PROGRESS | {each.step_id: StepRecord(each.step_id, StepState.OK, 1) for each in more}
    whole = shown(RECORD, steps, progress, 4000)
    without_reasons = shown(RECORD, steps, progress, len(whole) - 1)
    assert "exit code" not in without_reasons
    assert "✓ step19" in without_reasons
    shortest = shown(RECORD, steps, progress, len(without_reasons) - 1)
    assert "✓" not in shortest
    assert shortest.endswith("☐ look (by hand)\nand 21 that are over")
    assert len(shown(RECORD, steps, progress, 30)) == 30


def test_a_model_is_told_what_each_step_came_to() -> None:
    lines = told(RECORD, STEPS, PROGRESS)
    assert "(id w1)" in lines
    assert "build: ok\n  output: built\nall" in lines
    assert "test: failed, attempt 2\n  error: exit code 1" in lines
    assert "look: waiting\n  to do by hand, then advance: Look at the notes" in lines
