"""The course of a conversation: /new, /stop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from echo_bot.events import SessionKey
from echo_bot.inbox.commands.desk import Desk, Request
from echo_bot.inbox.commands.words import counted
from echo_bot.storage.records import TurnState


async def start_anew(request: Request, desk: Desk) -> str:
    await halt(request.session_key, desk)
    await desk.store.sessions.reset(request.session_key, desk.clock())
    ended = await desk.store.grants.end_session(request.session_key)
    await desk.overview.end_session(request.session_key)
    return "A fresh conversation." + (f" {counted(ended, 'session approval')} ended." if ended else "")


async def stop(request: Request, desk: Desk) -> str:
    return words_of_stop(await halt(request.session_key, desk))


@dataclass(frozen=True, slots=True)
class Stopped:
    """How much was stopped; false when nothing was."""

    turns: int
    workers: int
    workflows: int = 0
    tasks: int = 0

    def __bool__(self) -> bool:
        return bool(self.turns or self.workers or self.workflows or self.tasks)


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
        await desk.broker.cancel_turns(ids, "the turn was stopped")
    return Stopped(len(turns), workers, workflows, tasks)


def words_of_stop(stopped: Stopped) -> str:
    counts = (
        (stopped.turns, "turn"),
        (stopped.workers, "worker"),
        (stopped.workflows, "workflow"),
        (stopped.tasks, "task"),
    )
    words = [counted(number, noun) for number, noun in counts if number]
    return f"Stopped {' and '.join(words)}." if words else "Nothing is running here."
