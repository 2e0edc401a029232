"""A chat got a new id: what is stored, queued and remembered under the old one belongs to the new one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import structlog

from echo_bot.delivery.moved import MovedChats
from echo_bot.events import Address, SessionKey
from echo_bot.inbox.albums import Albums
from echo_bot.session import Pausing, SessionQueues, chat_session, event_from_json, event_to_json
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import ChatMove, TurnRecord

log = structlog.get_logger(__name__)


class Recorder(Protocol):
    async def record(self, kind: str, **fields: object) -> None: ...


class Moves:
    """Moves chats, once each however often the platform says so."""

    def __init__(
        self,
        store: Store,
        queues: SessionQueues,
        pausing: Pausing,
        albums: Albums,
        moved: MovedChats,
        audit: Recorder,
        *,
        rename_processes: Callable[[str, str], None],
    ) -> None:
        self._store, self._queues, self._pausing, self._albums = store, queues, pausing, albums
        self._moved, self._audit = moved, audit
        self._rename_processes = rename_processes
        self._lock = asyncio.Lock()

    async def move(self, old: Address, new_chat_id: str) -> None:
        """Raises StorageError, and then nothing has moved."""
        async with self._lock:
            await self._move(old, new_chat_id)

    async def _move(self, old: Address, new_chat_id: str) -> None:
        before = replace(old, thread_id="")
        after = replace(before, chat_id=new_chat_id)
        if not new_chat_id or before == after or self._moved.now(before) == after:
            return
        move = ChatMove(
            channel=old.channel,
            account=old.account,
            old_id=old.chat_id,
            new_id=new_chat_id,
            old_session=chat_session(before),
            new_session=chat_session(after),
        )
        await self._audit.record("chat_moved", old=str(before), new=str(after))
        rows = await self._store.moves.move(move)
        await self._moved.load()
        await self._pausing.rename(move.old_session, move.new_session)

        def renamed(turn: TurnRecord, key: SessionKey) -> TurnRecord:
            event = replace(event_from_json(turn.event_json), chat_id=new_chat_id)
            return replace(turn, session_key=key, event_json=event_to_json(event))

        await self._albums.rename(move.old_session, move.new_session, renamed)
        self._queues.rename(move.old_session, move.new_session, renamed)
        self._rename_processes(move.old_session, move.new_session)
        log.info("chat_moved", old=str(before), new=str(after), rows=rows)

    def all_of(self, address: Address) -> tuple[Address, ...]:
        """The address, then the same place under each id the chat had before."""
        return self._moved.all_of(address)
