"""What is planned and under way: /workflows, /tasks."""

from __future__ import annotations

import json

from echo_bot.flows.definition import BadDefinition, read_steps
from echo_bot.flows.shown import TASK_STATES, WORKFLOW_STATES, shown
from echo_bot.inbox.commands.desk import Desk, Request
from echo_bot.inbox.commands.words import literal, utc_minute
from echo_bot.storage.flow_records import TaskRecord, TaskState, WorkflowRecord
from echo_bot.text.language import _

_MOST = 20
_MOST_CHARS = 3000
_OPEN = (TaskState.OPEN, TaskState.STARTED)


async def show_workflows(request: Request, desk: Desk) -> str:
    """All of one's own, or the steps of one."""
    owner, name = str(request.sender), request.rest.strip()
    if name:
        record = await desk.store.workflows.named(owner, name)
        if record is None:
            return _("You have no workflow {name}.").format(name=literal(name))
        return await _steps(record, desk)
    records = await desk.store.workflows.list(owner, _MOST)
    if not records:
        return _("You have no workflows.")
    lines = [f"{literal(each.name)} – {_(WORKFLOW_STATES[each.state])}" for each in records]
    head, foot = _("Your workflows:"), _("`/workflows <name>` shows the steps of one.")
    return f"{head}\n\n" + "\n".join(lines) + f"\n\n{foot}"


async def list_tasks(request: Request, desk: Desk) -> str:
    tasks = await desk.store.tasks.list(str(request.sender), _MOST, _OPEN)
    if not tasks:
        return _("You have no open tasks.")
    return _("Your open tasks:") + "\n\n" + "\n".join(_line(task) for task in tasks)


async def _steps(record: WorkflowRecord, desk: Desk) -> str:
    try:
        steps = read_steps(json.loads(record.steps_json))
    except BadDefinition:
        return _("This version cannot read that workflow. Create it anew.")
    progress = {each.step_id: each for each in await desk.store.workflows.steps(record.workflow_id)}
    lines = shown(record, steps, progress, _MOST_CHARS).splitlines()
    return "\n".join(literal(desk.mask(line)) for line in lines)


def _line(task: TaskRecord) -> str:
    when = _(", starts {time}").format(time=utc_minute(task.start_at)) if task.start_at else ""
    state = _(TASK_STATES[task.state])
    return f"{literal(task.task_id)} {literal(task.title)} – {state}{when}"
