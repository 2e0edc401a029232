"""How a workflow looks: a few lines for people, and more for the model that asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from echo_bot.approval.escape import escape_line
from echo_bot.flows.definition import Step
from echo_bot.flows.progress import Progress
from echo_bot.storage.flow_records import StepRecord, StepState, TaskState, WorkflowRecord, WorkflowState
from echo_bot.text.language import N_, Say, _, english, listed

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
_HEADLINES = {
    WorkflowState.CREATED: N_("Workflow {name} is created{until}: {done}"),
    WorkflowState.RUNNING: N_("Workflow {name} is running{until}: {done}"),
    WorkflowState.PAUSED: N_("Workflow {name} is paused{until}: {done}"),
    WorkflowState.WAITING: N_("Workflow {name} waits for a step that is done by hand{until}: {done}"),
    WorkflowState.DONE: N_("Workflow {name} is done{until}: {done}"),
    WorkflowState.FAILED: N_("Workflow {name} failed{until}: {done}"),
    WorkflowState.CANCELLED: N_("Workflow {name} was cancelled{until}: {done}"),
}
_COUNTED = {
    StepState.FAILED: N_("{count} failed"),
    StepState.UNKNOWN: N_("{count} of unknown outcome"),
    StepState.SKIPPED: N_("{count} skipped"),
}
WORKFLOW_STATES = {
    WorkflowState.CREATED: N_("created"),
    WorkflowState.RUNNING: N_("running"),
    WorkflowState.PAUSED: N_("paused"),
    WorkflowState.WAITING: N_("waiting"),
    WorkflowState.DONE: N_("done"),
    WorkflowState.FAILED: N_("failed"),
    WorkflowState.CANCELLED: N_("cancelled"),
}
TASK_STATES = {
    TaskState.OPEN: N_("open"),
    TaskState.STARTED: N_("started"),
    TaskState.DONE: N_("done"),
    TaskState.FAILED: N_("failed"),
    TaskState.CANCELLED: N_("cancelled"),
}
_WHY_CHARS = 120
_TEXT_CHARS = 200
_OUTPUT_CHARS = 2000


def headline(record: WorkflowRecord, steps: Sequence[Step], progress: Progress, say: Say = english) -> str:
    counts = Counter(each.state for each in progress.values())
    others = [say(word).format(count=counts[state]) for state, word in _COUNTED.items() if counts[state]]
    steps_done = say(N_("{count} of {total} steps done")).format(count=counts[StepState.OK], total=len(steps))
    until = ""
    if record.resume_at:
        until = say(N_(" until {time}")).format(time=f"{record.resume_at:%Y-%m-%d %H:%M} UTC")
    return say(_HEADLINES[record.state]).format(
        name=escape_line(record.name), until=until, done=listed((steps_done, *others), say)
    )


def shown(record: WorkflowRecord, steps: Sequence[Step], progress: Progress, most_chars: int) -> str:
    """The lines of its message; the reasons, then the steps that are over, give way where room is short."""
    head = headline(record, steps, progress, _)
    lines = [_line(step, progress[step.step_id], why=True) for step in steps]
    text = "\n".join((head, *lines))
    if len(text) > most_chars:
        lines = [_line(step, progress[step.step_id], why=False) for step in steps]
        text = "\n".join((head, *lines))
    if len(text) > most_chars:
        lines = [
            line for step, line in zip(steps, lines, strict=True) if not _is_over(progress[step.step_id])
        ]
        text = "\n".join((head, *lines, _("and {count} that are over").format(count=len(steps) - len(lines))))
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
    what = _("agent") if step.kind == "agent" else step.tool or _("by hand")
    line = f"{_MARKS[at.state]} {step.step_id} ({what})"
    if not why:
        return line
    if step.kind == "manual" and at.state is StepState.WAITING:
        return _("{label}: {text}").format(label=line, text=_cut(escape_line(step.text), _TEXT_CHARS))
    if at.state in (StepState.FAILED, StepState.UNKNOWN, StepState.RETRYING) and at.error:
        return _("{label}: {text}").format(label=line, text=_cut(escape_line(at.error), _WHY_CHARS))
    return line


def _is_over(at: StepRecord) -> bool:
    return at.state in (StepState.OK, StepState.SKIPPED, StepState.CANCELLED)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
