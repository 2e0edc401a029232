"""The course of a conversation: /new, /stop."""

from __future__ import annotations

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


async def halt(key: SessionKey, desk: Desk) -> int:
    """Stop a session's turns; how many. Mark first, then cancel: a stopped turn is never revived."""
    await desk.albums.release(key)
    running = desk.queues.current(key)
    turns = (*([running] if running else []), *desk.queues.waiting(key))
    for turn in turns:
        await desk.store.turns.set_state(turn.turn_id, TurnState.STOPPED)
    await desk.queues.stop(key)
    if turns:
        await desk.broker.cancel_turns((turn.turn_id for turn in turns), "the turn was stopped")
    return len(turns)


def words_of_stop(stopped: int) -> str:
    return f"Stopped {counted(stopped, 'turn')}." if stopped else "Nothing is running here."
