"""The course of a conversation: /new, /stop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from echo_bot.events import SessionKey
from echo_bot.inbox.commands.desk import Desk, Request
from echo_bot.scheduler.job import session_of
from echo_bot.storage.records import TurnState
from echo_bot.text.language import N_, _, ngettext

_STOPPED = N_("the turn was stopped")


async def start_anew(request: Request, desk: Desk) -> str:
    await halt(request.session_key, desk)
    await desk.store.sessions.reset(request.session_key, desk.clock())
    ended = await desk.store.grants.end_session(request.session_key)
    await desk.overview.end_session(request.session_key)
    told = _("A fresh conversation.")
    if not ended:
        return told
    also = ngettext(" {count:,} session approval ended.", " {count:,} session approvals ended.", ended)
    return told + also.format(count=ended)


async def stop(request: Request, desk: Desk) -> str:
    """What runs here; of jobs that answer here the sender's own, and for an admin everybody's."""
    stopped = await halt(request.session_key, desk)
    return words_of_stop(replace(stopped, jobs=await _stop_jobs(request, desk)))


@dataclass(frozen=True, slots=True)
class Stopped:
    """How much was stopped; false when nothing was. `waiting`: messages whose turn had not begun."""

    turns: int
    workers: int
    workflows: int = 0
    tasks: int = 0
    jobs: int = 0
    waiting: int = 0

    def __bool__(self) -> bool:
        return bool(self.turns or self.waiting or self.workers or self.workflows or self.tasks or self.jobs)


async def halt(key: SessionKey, desk: Desk) -> Stopped:
    """Stop a session's turns, the workers they wait for and those in the background, its workflows and tasks.

    Mark first, then cancel: a stopped turn is never revived.
    """
    await desk.albums.release(key)
    running = desk.queues.current(key)
    turns = (*([running] if running else []), *desk.queues.waiting(key))
    for turn in turns:
        await desk.store.turns.set_state(turn.turn_id, TurnState.STOPPED)
    ids = [turn.turn_id for turn in turns]
    _, workers, workflows, tasks = await asyncio.gather(
        desk.queues.stop(key),
        desk.workers.stop_session(key, ids),
        desk.workflows.stop_session(key),
        desk.tasks.stop_session(key),
    )
    if turns:
        await desk.broker.cancel_turns(ids, _STOPPED)
    begun = int(running is not None)
    return Stopped(begun, workers, workflows, tasks, waiting=len(turns) - begun)


async def _stop_jobs(request: Request, desk: Desk) -> int:
    """Stop the runs of jobs that the sender may stop from here, and what they began; of how many."""
    chat, person = request.event.address, request.sender
    is_admin = await desk.overview.is_admin(person)
    stopped = 0
    for job in await desk.store.jobs.list():
        if desk.runs.may_be_stopped(job, chat, person, is_admin=is_admin):
            is_going_on = desk.runs.stop(job.job_id)
            stopped += bool(await halt(session_of(job.job_id), desk)) or is_going_on
    return stopped


def words_of_stop(stopped: Stopped) -> str:
    counts = (
        (stopped.turns, ngettext("{count:,} turn", "{count:,} turns", stopped.turns)),
        (
            stopped.waiting,
            ngettext("{count:,} message that waited", "{count:,} messages that waited", stopped.waiting),
        ),
        (stopped.workers, ngettext("{count:,} worker", "{count:,} workers", stopped.workers)),
        (stopped.workflows, ngettext("{count:,} workflow", "{count:,} workflows", stopped.workflows)),
        (stopped.tasks, ngettext("{count:,} task", "{count:,} tasks", stopped.tasks)),
        (stopped.jobs, ngettext("{count:,} job", "{count:,} jobs", stopped.jobs)),
    )
    words = [template.format(count=number) for number, template in counts if number]
    if not words:
        return _("Nothing is running here.")
    return _("Stopped {what}.").format(what=_(" and ").join(words))
