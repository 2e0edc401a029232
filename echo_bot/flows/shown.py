"""How a workflow looks: a few lines for people, and more for the model that asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from echo_bot.approval.escape import escape_line
from echo_bot.flows.definition import Step
from echo_bot.flows.progress import Progress
from echo_bot.storage.flow_records import StepRecord, StepState, WorkflowRecord, WorkflowState

_MARKS = {
    StepState.PENDING: "·",
    StepState.RUNNING: "…",
    StepState.RETRYING: "↻",
    StepState.WAITING: "☐",
    StepState.OK: "✓",
    StepState.FAILED: "✗",
    StepState.UNKNOWN: "?",
    StepState.SKIPPED: "–",
    StepState.CANCELLED: "–",
}
_WORDS = {
    WorkflowState.CREATED: "is created",
    WorkflowState.RUNNING: "is running",
    WorkflowState.PAUSED: "is paused",
    WorkflowState.WAITING: "waits for a step that is done by hand",
    WorkflowState.DONE: "is done",
    WorkflowState.FAILED: "failed",
    WorkflowState.CANCELLED: "was cancelled",
}
_COUNTED = {
    StepState.FAILED: "failed",
    StepState.UNKNOWN: "of unknown outcome",
    StepState.SKIPPED: "skipped",
}
_WHY_CHARS = 120
_TEXT_CHARS = 200
_OUTPUT_CHARS = 2000


def headline(record: WorkflowRecord, steps: Sequence[Step], progress: Progress) -> str:
    counts = Counter(each.state for each in progress.values())
    others = [f"{counts[state]} {word}" for state, word in _COUNTED.items() if counts[state]]
    done = ", ".join((f"{counts[StepState.OK]} of {len(steps)} steps done", *others))
    until = f" until {record.resume_at:%Y-%m-%d %H:%M} UTC" if record.resume_at else ""
    words = _WORDS[record.state] + until
    return f"Workflow {escape_line(record.name)} {words}: {done}"


def shown(record: WorkflowRecord, steps: Sequence[Step], progress: Progress, most_chars: int) -> str:
    """The lines of its message; the reasons, then the steps that are over, give way where room is short."""
    head = headline(record, steps, progress)
    lines = [_line(step, progress[step.step_id], why=True) for step in steps]
    text = "\n".join((head, *lines))
    if len(text) > most_chars:
        lines = [_line(step, progress[step.step_id], why=False) for step in steps]
        text = "\n".join((head, *lines))
    if len(text) > most_chars:
        lines = [
            line for step, line in zip(steps, lines, strict=True) if not _is_over(progress[step.step_id])
        ]
        text = "\n".join((head, *lines, f"and {len(steps) - len(lines)} that are over"))
    return text if len(text) <= most_chars else f"{text[: most_chars - 1]}…"


def told(record: WorkflowRecord, steps: Sequence[Step], progress: Progress) -> str:
    """All of it, with what each step came to, for a model."""
    lines = [f"{headline(record, steps, progress)} (id {record.workflow_id})"]
    for step in steps:
        at = progress[step.step_id]
        lines.append(
            f"{step.step_id}: {at.state.value}" + (f", attempt {at.attempt}" if at.attempt > 1 else "")
        )
        if step.kind == "manual" and at.state is StepState.WAITING:
            lines.append(f"  to do by hand, then advance: {step.text}")
        lines += [f"  error: {_cut(at.error, _OUTPUT_CHARS)}"] if at.error else []
        lines += [f"  output: {_cut(at.output, _OUTPUT_CHARS)}"] if at.output else []
    return "\n".join(lines)


def _line(step: Step, at: StepRecord, *, why: bool) -> str:
    what = "agent" if step.kind == "agent" else step.tool or "by hand"
    line = f"{_MARKS[at.state]} {step.step_id} ({what})"
    if not why:
        return line
    if step.kind == "manual" and at.state is StepState.WAITING:
        return f"{line}: {_cut(escape_line(step.text), _TEXT_CHARS)}"
    if at.state in (StepState.FAILED, StepState.UNKNOWN, StepState.RETRYING) and at.error:
        return f"{line}: {_cut(escape_line(at.error), _WHY_CHARS)}"
    return line


def _is_over(at: StepRecord) -> bool:
    return at.state in (StepState.OK, StepState.SKIPPED, StepState.CANCELLED)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
