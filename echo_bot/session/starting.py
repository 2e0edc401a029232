"""Turns that the bot itself begins: a worker, a workflow, a job that is due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime

from echo_bot.errors import StorageError
from echo_bot.events import InboundEvent, SessionKey, TurnId
from echo_bot.session.keys import turn_id_of
from echo_bot.session.queues import SessionQueues
from echo_bot.session.stored import event_to_json
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import TurnKind, TurnRecord, TurnState


class TurnStarter:
    """Queues turns for internal producers, and waits for their ends.

    Whoever starts one says who it acts for: the event's typed fields are taken as they are, so an event made
    from another turn's keeps its trust and gains none. `queues` is set by the composition root
    as its last step.
    """

    queues: SessionQueues

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store, self._clock = store, clock

    async def start(self, event: InboundEvent, *, kind: TurnKind, parent: str = "") -> TurnRecord:
        """Store and queue a turn in the session that `event.session_key_override` names.

        Idempotent by the event's id: a turn that was started before, also by an earlier run of the bot, is
        returned as it stands now.
        """
        turn = TurnRecord(
            turn_id=turn_id_of(event),
            session_key=SessionKey(event.session_key_override),
            event_id=event.event_id,
            event_json=event_to_json(event),
            state=TurnState.QUEUED,
            created_at=self._clock(),
            memory_scope=event.memory_scope,
            kind=kind,
            parent=parent,
        )
        claimed = f"{kind}:{turn.turn_id}"
        if await self._store.events.claim((claimed,), turn, self._clock()):
            self.queues.submit(turn)
            return turn
        return await self._stored(turn.turn_id)

    async def ended(self, turn_id: TurnId) -> TurnRecord:
        """Wait until the turn is over in this process; returns it as it is stored then."""
        await self.queues.ended(turn_id)
        return await self._stored(turn_id)

    async def stop(self, turn_id: TurnId) -> int:
        """Mark the turn and all that it started, then cancel them: a stopped turn is never revived.

        Returns how many were stopped, itself included; 0 when it is over. Its session must be its own.
        """
        turn = await self._store.turns.get(turn_id)
        return 0 if turn is None else await self._stop((turn,))

    async def stop_children(self, turn_id: TurnId) -> int:
        """The same of all that a turn started, itself or by others, and not of the turn."""
        return await self._stop(await self._store.turns.unfinished_children(turn_id))

    async def _stop(self, turns: Iterable[TurnRecord]) -> int:
        marked = [each for turn in turns for each in await self._mark(turn)]
        await asyncio.gather(*(self.queues.stop(turn.session_key) for turn in marked))
        return len(marked)

    async def _mark(self, turn: TurnRecord) -> list[TurnRecord]:
        if not await self._store.turns.set_state(turn.turn_id, TurnState.STOPPED):
            return []
        children = await self._store.turns.unfinished_children(turn.turn_id)
        return [turn, *[each for child in children for each in await self._mark(child)]]

    async def _stored(self, turn_id: TurnId) -> TurnRecord:
        turn = await self._store.turns.get(turn_id)
        if turn is None:
            raise StorageError(f"turn {turn_id} is not in the database")
        return turn
