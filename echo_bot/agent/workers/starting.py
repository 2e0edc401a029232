"""Workers of a turn: started with its trust and no more, waited for, found again after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from echo_bot.agent.workers.places import Place, Places
from echo_bot.agent.workers.progress import Progress
from echo_bot.errors import StorageError
from echo_bot.events import (
    BlockType,
    ContentBlock,
    EventId,
    InboundEvent,
    SessionKey,
    TurnId,
    WorkerBrief,
)
from echo_bot.policy.workers import WorkerLimits, start_problem, turns_of
from echo_bot.session import TurnStarter, event_from_json, turn_id_of
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import TurnRecord
from echo_bot.tools.sites import CallSite
from echo_bot.tools.workers import WorkerTask

HoldWhilePaused = Callable[[SessionKey], Awaitable[None]]
"""Returns once a session may begin something new; see `echo_bot.session.pausing`."""


@dataclass(frozen=True, slots=True)
class Employed:
    """An unfinished worker of a conversation. `is_working`: it has a place, and does not wait for others."""

    turn: TurnRecord
    event: InboundEvent
    is_working: bool


class Workers:
    """Implements `echo_bot.tools.workers.Workers` for the tools, and keeps the places."""

    def __init__(
        self,
        store: Store,
        starter: TurnStarter,
        limits: WorkerLimits,
        places: Places,
        progress: Progress,
        *,
        hold: HoldWhilePaused,
        clock: Callable[[], datetime],
    ) -> None:
        self._store, self._starter, self._limits = store, starter, limits
        self._places, self.progress, self._hold, self._clock = places, progress, hold, clock
        self._at_work: dict[TurnId, Place] = {}
        self._starting = asyncio.Lock()

    async def start(
        self, site: CallSite, tasks: Sequence[WorkerTask], *, max_turns: int = 0, spawned: bool = False
    ) -> tuple[TurnId, ...] | str:
        """One worker for each task, or the sentence why there is none. The same call again finds its own."""
        turn = await self._turn(site.turn_id)
        event = event_from_json(turn.event_json)
        event = replace(event, memory_scope=turn.memory_scope)
        events = self._events(event, site, tasks, turns_of(max_turns, self._limits), spawned)
        async with self._starting:
            began_before = await self._store.turns.get(turn_id_of(events[0])) is not None
            if not began_before and (problem := await self._problem(events)):
                return problem
            started = [await self._starter.start(each, kind="worker", parent=site.turn_id) for each in events]
        return tuple(each.turn_id for each in started)

    async def ended(self, site: CallSite, workers: Sequence[TurnId]) -> tuple[TurnRecord, ...]:
        """Wait for their ends. A worker that waits gives its place up, and its status line shows theirs."""
        with self.progress.waiting(site.turn_id, site.call_key, site.execution_id):
            place = self._at_work.get(site.turn_id)
            if place is None:
                return await self._ends(workers)
            async with place.given_up():
                return await self._ends(workers)

    async def stop(self, workers: Iterable[TurnId]) -> int:
        """Stop these and what they started; how many."""
        return sum(await asyncio.gather(*(self._starter.stop(each) for each in workers)))

    async def stop_awaited(self, turn_id: TurnId) -> int:
        """Stop those that a turn waited for which is over; how many. Who works in the background goes on."""
        children = await self._store.turns.unfinished_children(turn_id)
        briefs = ((child, event_from_json(child.event_json).worker) for child in children)
        awaited = [
            child.turn_id for child, brief in briefs if child.kind == "worker" and brief and not brief.spawned
        ]
        return await self.stop(awaited)

    async def stop_session(self, session_key: SessionKey, turns: Iterable[TurnId]) -> int:
        """Stop what these turns started, and what works in the background for the session; how many."""
        employed = [each.turn.turn_id for each in await self.of_session(session_key)]
        stopped = await asyncio.gather(
            *(self._starter.stop_children(turn) for turn in turns), *map(self._starter.stop, employed)
        )
        return sum(stopped)

    async def of_session(self, session_key: SessionKey) -> tuple[Employed, ...]:
        """The unfinished workers of a conversation, oldest first."""
        found = []
        for turn in await self._store.turns.unfinished():
            if turn.kind != "worker":
                continue
            event = event_from_json(turn.event_json)
            origin = await self._store.turns.get(event.worker.origin) if event.worker else None
            if origin is not None and origin.session_key == session_key:
                place = self._at_work.get(turn.turn_id)
                found.append(Employed(turn, event, place is not None and place.is_taken))
        return tuple(found)

    async def session_of(self, brief: WorkerBrief) -> SessionKey:
        """The conversation's key as it is now: a chat may get a new id while a worker works for it."""
        return (await self._turn(brief.origin)).session_key

    @asynccontextmanager
    async def at_work(self, turn: TurnRecord, brief: WorkerBrief, session: SessionKey) -> AsyncIterator[None]:
        """For the whole of a worker's work, once nothing is paused and there is a place."""
        await self._hold(session)
        place = self._at_work[turn.turn_id] = Place(self._places, session)
        try:
            async with place.taken():
                with self.progress.working(turn.turn_id, TurnId(turn.parent), brief):
                    yield
        finally:
            del self._at_work[turn.turn_id]

    def _events(
        self,
        event: InboundEvent,
        site: CallSite,
        tasks: Sequence[WorkerTask],
        max_turns: int,
        spawned: bool,
    ) -> list[InboundEvent]:
        """The caller's event with another task: sender, chat and trust are its own."""
        above = event.worker
        return [
            replace(
                event,
                event_id=EventId(f"worker:{site.turn_id}:{site.call_key}:{index}"),
                session_key_override=f"worker:{site.turn_id}:{site.call_key}:{index}",
                dedup_ids=(),
                album_id="",
                asks_again=None,
                timestamp=self._clock(),
                content=(ContentBlock(BlockType.TEXT, task.goal),),
                worker=WorkerBrief(
                    tools=task.tools,
                    depth=above.depth + 1 if above else 1,
                    max_turns=max_turns,
                    origin=above.origin if above else site.turn_id,
                    call_key=site.call_key,
                    execution_id=site.execution_id,
                    index=index,
                    count=len(tasks),
                    context=task.context,
                    spawned=spawned,
                ),
            )
            for index, task in enumerate(tasks, start=1)
        ]

    async def _problem(self, events: Sequence[InboundEvent]) -> str:
        brief = events[0].worker
        assert brief is not None
        unfinished = await self.of_session(await self.session_of(brief))
        return start_problem(
            depth=brief.depth, tasks=len(events), unfinished=len(unfinished), limits=self._limits
        )

    async def _ends(self, workers: Sequence[TurnId]) -> tuple[TurnRecord, ...]:
        return tuple([await self._starter.ended(each) for each in workers])

    async def _turn(self, turn_id: TurnId) -> TurnRecord:
        turn = await self._store.turns.get(turn_id)
        if turn is None:
            raise StorageError(f"turn {turn_id} is not in the database")
        return turn
