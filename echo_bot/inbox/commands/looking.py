"""What the bot says of itself and of whoever asks: /status, /tools, /whoami."""

from __future__ import annotations

from echo_bot import __version__
from echo_bot.events import SessionKey
from echo_bot.inbox.commands.desk import Desk, Request
from echo_bot.inbox.commands.words import counted, literal
from echo_bot.tools.web.written import clean_line

_MOST_WORKERS = 10
_GOAL_CHARS = 80


async def show_status(request: Request, desk: Desk) -> str:
    """Admins see the whole bot; everybody else what concerns them."""
    key = request.session_key
    workers = await _worker_lines(key, desk)
    if await desk.overview.is_admin(request.sender):
        return "\n".join((await desk.overview.status_text(), *workers))
    running = "working" if desk.queues.current(key) else "idle"
    mine = await desk.broker.pending_for(request.sender)
    pause = desk.pausing.pause_of(key)
    held = f" Paused since {pause.at:%Y-%m-%d %H:%M} UTC." if pause else ""
    chat = (
        f"Echo Bot {__version__}. This chat: {running}, {len(desk.queues.waiting(key))} waiting.{held} "
        f"Open approvals that you may decide: {len(mine)}."
    )
    return "\n".join((f"{chat}\n", *workers)) if workers else chat


async def _worker_lines(key: SessionKey, desk: Desk) -> list[str]:
    """The workers of this chat: what each is for, since when, and whether it has a place."""
    workers = await desk.workers.of_session(key)
    lines = []
    for each in workers[:_MOST_WORKERS]:
        goal = clean_line(desk.mask(each.event.text), _GOAL_CHARS)
        doing = "works" if each.is_working else "waits"
        lines.append(f"- Worker {literal(goal)} {doing}, since {each.turn.created_at:%Y-%m-%d %H:%M} UTC")
    more = len(workers) - _MOST_WORKERS
    return [*lines, f"- {counted(more, 'worker')} more"] if more > 0 else lines


async def list_tools(request: Request, desk: Desk) -> str:
    return desk.overview.tools_text()


async def tell_who(request: Request, desk: Desk) -> str:
    admin = ", an admin" if await desk.overview.is_admin(request.sender) else ""
    return f"You are `{request.sender}`{admin}. This chat is `{request.event.address}`."
