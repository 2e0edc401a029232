"""What the bot says of itself and of whoever asks: /status, /tools, /whoami."""

from __future__ import annotations

from echo_bot import __version__
from echo_bot.events import SessionKey
from echo_bot.inbox.commands.desk import Desk, Request
from echo_bot.inbox.commands.words import literal, utc_minute
from echo_bot.storage.flow_records import StepState, WorkflowState
from echo_bot.text.language import _, listed, ngettext
from echo_bot.tools.web.written import clean_line

_MOST_LISTED = 10
_NAME_CHARS = 80


async def show_status(request: Request, desk: Desk) -> str:
    """Admins see the whole bot; everybody else what concerns them."""
    key = request.session_key
    is_admin = await desk.overview.is_admin(request.sender)
    under_way = [
        *await _worker_lines(key, desk),
        *await _workflow_lines(None if is_admin else key, desk),
        *await _job_lines(request, desk, is_admin=is_admin),
    ]
    if is_admin:
        return "\n".join((await desk.overview.status_text(), *under_way))
    mine = await desk.broker.pending_for(request.sender)
    pause = desk.pausing.pause_of(key)
    template = (
        _("Echo Bot {version}. This chat: working, {waiting} waiting.")
        if desk.queues.current(key)
        else _("Echo Bot {version}. This chat: idle, {waiting} waiting.")
    )
    chat = template.format(version=__version__, waiting=len(desk.queues.waiting(key)))
    if pause:
        chat += _(" Paused since {time}.").format(time=utc_minute(pause.at))
    chat += _(" Open approvals that you may decide: {count}.").format(count=len(mine))
    return "\n".join((f"{chat}\n", *under_way)) if under_way else chat


async def _worker_lines(key: SessionKey, desk: Desk) -> list[str]:
    """The workers of this chat: what each is for, since when, and whether it has a place."""
    workers = await desk.workers.of_session(key)
    lines = []
    for each in workers[:_MOST_LISTED]:
        goal = clean_line(desk.mask(each.event.text), _NAME_CHARS)
        doing = (
            _("Worker {goal} works, since {time}")
            if each.is_working
            else _("Worker {goal} waits, since {time}")
        )
        told = doing.format(goal=literal(goal), time=utc_minute(each.turn.created_at))
        lines.append(f"- {told}")
    more = len(workers) - _MOST_LISTED
    return [*lines, *_more(more, ngettext("{count:,} worker more", "{count:,} workers more", more))]


async def _workflow_lines(key: SessionKey | None, desk: Desk) -> list[str]:
    """The workflows that run, of one conversation or of all: at which steps, and since when."""
    running = await desk.store.workflows.in_state(WorkflowState.RUNNING)
    found = [each for each in running if key is None or each.session_key == key]
    lines = []
    for each in found[:_MOST_LISTED]:
        at = [
            step.step_id
            for step in await desk.store.workflows.steps(each.workflow_id)
            if step.state is StepState.RUNNING
        ]
        doing = (
            _("Workflow {name} (id {id}) is at step {steps}, since {time}")
            if at
            else _("Workflow {name} (id {id}) is between two steps, since {time}")
        )
        told = doing.format(
            name=_name(each.name, desk),
            id=each.workflow_id,
            steps=listed(map(literal, at)),
            time=utc_minute(each.changed_at),
        )
        lines.append(f"- {told}")
    more = len(found) - _MOST_LISTED
    return [*lines, *_more(more, ngettext("{count:,} workflow more", "{count:,} workflows more", more))]


async def _job_lines(request: Request, desk: Desk, *, is_admin: bool) -> list[str]:
    """The jobs that run: one's own that answer here, for an admin all of them."""
    jobs = await desk.store.jobs.list(None if is_admin else str(request.sender))
    chat = request.event.address
    running = [each for each in jobs if each.is_running and (is_admin or desk.runs.answers_in(each, chat))]
    lines = []
    for each in running[:_MOST_LISTED]:
        told = _("Job {name} (id {id}) runs").format(name=_name(each.name, desk), id=each.job_id)
        due = _(", due {time}").format(time=utc_minute(each.last.due)) if each.last.due else ""
        lines.append(f"- {told}{due}")
    more = len(running) - _MOST_LISTED
    return [*lines, *_more(more, ngettext("{count:,} job more", "{count:,} jobs more", more))]


def _name(name: str, desk: Desk) -> str:
    return literal(clean_line(desk.mask(name), _NAME_CHARS))


def _more(count: int, template: str) -> list[str]:
    return [f"- {template.format(count=count)}"] if count > 0 else []


async def list_tools(request: Request, desk: Desk) -> str:
    return desk.overview.tools_text()


async def tell_who(request: Request, desk: Desk) -> str:
    template = (
        _("You are `{person}`, an admin. This chat is `{chat}`.")
        if await desk.overview.is_admin(request.sender)
        else _("You are `{person}`. This chat is `{chat}`.")
    )
    return template.format(person=request.sender, chat=request.event.address)
