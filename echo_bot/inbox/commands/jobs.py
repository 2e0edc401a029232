"""/jobs: the sender's scheduled jobs, and for an admin everybody's."""

from __future__ import annotations

from echo_bot.inbox.commands.desk import Desk, Request
from echo_bot.inbox.commands.words import literal
from echo_bot.scheduler.telling import job_line
from echo_bot.text.language import _


async def list_jobs(request: Request, desk: Desk) -> str:
    sees_all = await desk.overview.is_admin(request.sender)
    found = await desk.store.jobs.list(None if sees_all else str(request.sender))
    if not found:
        return _(
            "There are no jobs. Ask for one in words, such as: every weekday at 9:00 tell me the weather."
        )
    lines = [
        f"- {literal(desk.mask(job_line(job, _)))}"
        + (_(" of {person}").format(person=literal(job.owner)) if job.owner != str(request.sender) else "")
        for job in found
    ]
    return "\n".join(lines)
