"""One strictly ordered queue of turns per session."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog

from echo_bot.events import SessionKey, TurnId
from echo_bot.storage.records import TurnRecord

log = structlog.get_logger(__name__)

RunTurn = Callable[[TurnRecord], Awaitable[None]]
"""Runs one turn to its end. It must not raise, except CancelledError when it is stopped."""

IsHeld = Callable[[SessionKey], bool]
"""Must a session begin no turn now? See `echo_bot.session.pausing`."""

RenameTurn = Callable[[TurnRecord, SessionKey], TurnRecord]
"""The turn as it belongs to a session that got a new key."""


@dataclass(slots=True)
class _Lane:
    key: SessionKey
    waiting: deque[TurnRecord] = field(default_factory=deque)
    current: TurnRecord | None = None
    turn_task: asyncio.Task[None] | None = None
    worker: asyncio.Task[None] | None = None


class SessionQueues:
    """One turn at a time per session, sessions in parallel.

    A lane lives while it has work; nothing is polled. Held sessions finish what runs; `wake` looks again.
    """

    def __init__(self, run: RunTurn, is_held: IsHeld = lambda _key: False) -> None:
        self._run, self._is_held = run, is_held
        self._lanes: dict[SessionKey, _Lane] = {}
        self._endings: dict[TurnId, asyncio.Event] = {}
        self._closing = False

    def submit(self, turn: TurnRecord) -> int:
        """Queue a stored turn. Returns how many are before it in its session."""
        lane = self._lanes.setdefault(turn.session_key, _Lane(turn.session_key))
        ahead = len(lane.waiting) + (lane.current is not None)
        lane.waiting.append(turn)
        self._ensure_worker(lane)
        return ahead

    def replace(self, turn: TurnRecord) -> bool:
        """Swap a waiting turn for its edited form. False once it has begun."""
        lane = self._lanes.get(turn.session_key)
        for index, waiting in enumerate(lane.waiting if lane else ()):
            if waiting.event_id == turn.event_id and lane is not None:
                lane.waiting[index] = turn
                return True
        return False

    def drop(self, turn: TurnRecord) -> bool:
        """Take a waiting turn out; the caller marks it. False once it has begun."""
        lane = self._lanes.get(turn.session_key)
        if lane is None or turn not in lane.waiting:
            return False
        lane.waiting.remove(turn)
        if lane.worker is None and not lane.waiting:
            del self._lanes[lane.key]
        self._tell_ended(turn)
        return True

    def put_back(self, turn: TurnRecord) -> None:
        """One that was dropped waits again, in its old place."""
        lane = self._lanes.setdefault(turn.session_key, _Lane(turn.session_key))
        before = sum(waiting.created_at <= turn.created_at for waiting in lane.waiting)
        lane.waiting.insert(before, turn)
        self._ensure_worker(lane)

    def current(self, key: SessionKey) -> TurnRecord | None:
        lane = self._lanes.get(key)
        return lane.current if lane else None

    def waiting(self, key: SessionKey) -> tuple[TurnRecord, ...]:
        lane = self._lanes.get(key)
        return tuple(lane.waiting) if lane else ()

    def all_waiting(self) -> tuple[TurnRecord, ...]:
        return tuple(turn for lane in self._lanes.values() for turn in lane.waiting)

    def total(self) -> tuple[int, int]:
        """How many turns run and how many wait, over all sessions."""
        lanes = self._lanes.values()
        return sum(lane.current is not None for lane in lanes), sum(len(lane.waiting) for lane in lanes)

    async def ended(self, turn_id: TurnId) -> None:
        """Wait until a turn neither runs nor waits in this process; at once when it does not."""
        lanes = self._lanes.values()
        if any(turn.turn_id == turn_id for lane in lanes for turn in (lane.current, *lane.waiting) if turn):
            await self._endings.setdefault(turn_id, asyncio.Event()).wait()

    async def stop(self, key: SessionKey) -> tuple[TurnRecord, ...]:
        """Cancel the running turn and drop the waiting ones; returns all of them. The caller marks them."""
        lane = self._lanes.get(key)
        if lane is None:
            return ()
        dropped = [*([lane.current] if lane.current else []), *lane.waiting]
        lane.waiting.clear()
        if lane.turn_task is not None:
            lane.turn_task.cancel()
            await asyncio.wait({lane.turn_task})
        if lane.worker is None:
            self._lanes.pop(lane.key, None)
        for turn in dropped:
            self._tell_ended(turn)
        return tuple(dropped)

    def wake(self) -> None:
        """Some sessions may be held no longer: let their waiting turns begin."""
        for lane in self._lanes.values():
            self._ensure_worker(lane)

    def rename(self, old: SessionKey, new: SessionKey, renamed: RenameTurn) -> None:
        """The sessions of a chat (its own, its threads', its senders') go on under the chat's new key.

        Where the new one has a queue already, the old one's waiting turns come first in it.
        """
        for key in [key for key in self._lanes if key == old or key.startswith(f"{old}:")]:
            lane = self._lanes.pop(key)
            lane.key = SessionKey(new + key.removeprefix(old))
            lane.waiting = deque(renamed(turn, lane.key) for turn in lane.waiting)
            there = self._lanes.get(lane.key)
            if there is not None and lane.current is None:
                lane, there = there, lane
                lane.waiting.extendleft(reversed(there.waiting))
            elif there is not None:
                lane.waiting.extend(there.waiting)
            if there is not None:
                there.waiting.clear()
            self._lanes[lane.key] = lane
            self._ensure_worker(lane)

    async def close(self) -> None:
        """Cancel every running turn and wait for them. The store has them: they go on after a restart."""
        self._closing = True
        tasks = [t for lane in self._lanes.values() for t in (lane.turn_task, lane.worker) if t is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._lanes.clear()
        for ending in self._endings.values():
            ending.set()

    def _tell_ended(self, turn: TurnRecord) -> None:
        ending = self._endings.pop(turn.turn_id, None)
        if ending is not None:
            ending.set()

    def _ensure_worker(self, lane: _Lane) -> None:
        if lane.worker is None and lane.waiting and not self._closing and not self._is_held(lane.key):
            lane.worker = asyncio.create_task(self._work(lane), name=f"session {lane.key}")

    async def _work(self, lane: _Lane) -> None:
        try:
            while lane.waiting and not self._is_held(lane.key):
                turn = lane.current = lane.waiting.popleft()
                lane.turn_task = asyncio.ensure_future(self._run(turn))
                await asyncio.wait({lane.turn_task})
                _note_failure(turn, lane.turn_task)
                lane.turn_task = lane.current = None
                self._tell_ended(turn)
        finally:
            lane.worker = None
            if not lane.waiting and self._lanes.get(lane.key) is lane:
                del self._lanes[lane.key]


def _note_failure(turn: TurnRecord, task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("turn_crashed", turn=turn.turn_id, exc_info=task.exception())
