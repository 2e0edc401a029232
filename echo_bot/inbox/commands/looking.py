"""What the bot says of itself and of whoever asks: /status, /tools, /whoami."""

from __future__ import annotations

from echo_bot import __version__
from echo_bot.inbox.commands.desk import Desk, Request


async def show_status(request: Request, desk: Desk) -> str:
    """Admins see the whole bot; everybody else what concerns them."""
    if await desk.overview.is_admin(request.sender):
        return await desk.overview.status_text()
    key = request.session_key
    running = "working" if desk.queues.current(key) else "idle"
    mine = await desk.broker.pending_for(request.sender)
    pause = desk.pausing.pause_of(key)
    held = f" Paused since {pause.at:%Y-%m-%d %H:%M} UTC." if pause else ""
    return (
        f"Echo Bot {__version__}. This chat: {running}, {len(desk.queues.waiting(key))} waiting.{held} "
        f"Open approvals that you may decide: {len(mine)}."
    )


async def list_tools(request: Request, desk: Desk) -> str:
    return desk.overview.tools_text()


async def tell_who(request: Request, desk: Desk) -> str:
    admin = ", an admin" if await desk.overview.is_admin(request.sender) else ""
    return f"You are `{request.sender}`{admin}. This chat is `{request.event.address}`."
