"""A message that still waits, edited by whoever wrote it, or deleted. What has begun goes on as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from echo_bot.agent.directive import split_command
from echo_bot.errors import StorageError
from echo_bot.events import Address, EventType, InboundEvent, SessionKey
from echo_bot.session.queues import SessionQueues
from echo_bot.session.stored import event_from_json, event_to_json
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import TranscriptRow, TurnRecord, TurnState


class SecondThoughts:
    """`line_of` makes the line of the transcript that a message stands in."""

    def __init__(
        self, store: Store, queues: SessionQueues, line_of: Callable[[InboundEvent], TranscriptRow]
    ) -> None:
        self._store, self._queues, self._line_of = store, queues, line_of

    async def edited(self, event: InboundEvent, key: SessionKey) -> bool:
        """An edit replaces a message that still waits; it never runs a command and never decides anything."""
        if split_command(event.text)[0]:
            return False
        for turn in self._queues.waiting(key):
            begun = event_from_json(turn.event_json)
            is_theirs = (begun.message_id, begun.sender) == (event.message_id, event.sender)
            if event.message_id and is_theirs:
                edited = replace(event, event_type=EventType.MESSAGE, event_id=turn.event_id)
                text = event_to_json(edited)
                if await self._store.events.replace_queued(key, turn.event_id, text):
                    await self._store.sessions.put_transcript(self._line_of(edited))
                    return self._queues.replace(replace(turn, event_json=text))
        return False

    async def taken_back(self, address: Address, message_id: str) -> bool:
        """See `Port.taken_back`."""
        for turn in self._queues.all_waiting():
            said = event_from_json(turn.event_json)
            is_there = (said.channel, said.account) == (address.channel, address.account)
            is_it = message_id and said.message_id == message_id
            if is_there and is_it and address.chat_id in (said.chat_id, said.thread_id):
                return await self._drop(turn)
        return False

    async def _drop(self, turn: TurnRecord) -> bool:
        """Out of the queue first, so that it cannot begin meanwhile; the platform tells again what failed."""
        if not self._queues.drop(turn):
            return False
        try:
            return await self._store.turns.set_state(turn.turn_id, TurnState.STOPPED)
        except StorageError:
            self._queues.put_back(turn)
            raise
