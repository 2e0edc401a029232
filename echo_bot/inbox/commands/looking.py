"""What the bot says of itself and of whoever asks: /status, /tools, /whoami."""

from __future__ import annotations

from echo_bot import __version__
from echo_bot.events import SessionKey
from echo_bot.inbox.commands.desk import Desk, Request
from echo_bot.inbox.commands.words import literal
from echo_bot.storage.flow_records import StepState, WorkflowState
from echo_bot.text.counted import counted
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
    running = "working" if desk.queues.current(key) else "idle"
    mine = await desk.broker.pending_for(request.sender)
    pause = desk.pausing.pause_of(key)
    held = f" Paused since {pause.at:%Y-%m-%d %H:%M} UTC." if pause else ""
    chat = (
        f"Echo Bot {__version__}. This chat: {running}, {len(desk.queues.waiting(key))} waiting.{held} "
        f"Open approvals that you may decide: {len(mine)}."
    )
    return "\n".join((f"{chat}\n", *under_way)) if under_way else chat


async def _worker_lines(key: SessionKey, desk: Desk) -> list[str]:
    """The workers of this chat: what each is for, since when, and whether it has a place."""
    workers = await desk.workers.of_session(key)
    lines = []
    for each in workers[:_MOST_LISTED]:
        goal = clean_line(desk.mask(each.event.text), _NAME_CHARS)
        doing = "works" if each.is_working else "waits"
        lines.append(f"- Worker {literal(goal)} {doing}, since {each.turn.created_at:%Y-%m-%d %H:%M} UTC")
    return [*lines, *_more(len(workers), "worker")]


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
        doing = f"at step {', '.join(map(literal, at))}" if at else "between two steps"
        lines.append(
            f"- Workflow {_name(each.name, desk)} (id {each.workflow_id}) is {doing}, "
            f"since {each.changed_at:%Y-%m-%d %H:%M} UTC"
        )
    return [*lines, *_more(len(found), "workflow")]


async def _job_lines(request: Request, desk: Desk, *, is_admin: bool) -> list[str]:
    """The jobs that run: one's own that answer here, for an admin all of them."""
    jobs = await desk.store.jobs.list(None if is_admin else str(request.sender))
    chat = request.event.address
    running = [each for each in jobs if each.is_running and (is_admin or desk.runs.answers_in(each, chat))]
    lines = [
        f"- Job {_name(each.name, desk)} (id {each.job_id}) runs"
        + (f", due {each.last.due:%Y-%m-%d %H:%M} UTC" if each.last.due else "")
        for each in running[:_MOST_LISTED]
    ]
    return [*lines, *_more(len(running), "job")]


def _name(name: str, desk: Desk) -> str:
    return literal(clean_line(desk.mask(name), _NAME_CHARS))


def _more(count: int, noun: str) -> list[str]:
    more = count - _MOST_LISTED
    return [f"- {counted(more, noun)} more"] if more > 0 else []


async def list_tools(request: Request, desk: Desk) -> str:
    return desk.overview.tools_text()


async def tell_who(request: Request, desk: Desk) -> str:
    admin = ", an admin" if await desk.overview.is_admin(request.sender) else ""
    return f"You are `{request.sender}`{admin}. This chat is `{request.event.address}`."
