"""Parts of an album that come one by one: each is stored at once, all of them are one turn."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from echo_bot.events import BlockType, EventType, InboundEvent, SessionKey
from echo_bot.inbox.incoming import claim_ids
from echo_bot.session import RenameTurn, SessionQueues, event_from_json, event_to_json
from echo_bot.storage.protocol import Events
from echo_bot.storage.records import TranscriptRow, TurnRecord

QUIET_SECONDS = 1.0
"""After the last part, until the turn begins."""

_REMEMBERED = 500

LineOf = Callable[[InboundEvent], TranscriptRow]


@dataclass(slots=True)
class _Album:
    turn: TurnRecord
    timer: asyncio.TimerHandle


class Albums:
    """Holds a stored turn back while further parts may come. After a crash it begins with those it has."""

    def __init__(self, events: Events, queues: SessionQueues, clock: Callable[[], datetime]) -> None:
        self._events, self._queues, self._clock = events, queues, clock
        self._open: dict[SessionKey, _Album] = {}
        self._joining = asyncio.Lock()
        self._heard: OrderedDict[tuple[object, ...], None] = OrderedDict()

    def goes_on(self, event: InboundEvent) -> bool:
        """Is it a part of an album that was heard, be its turn over? It needs no mention of its own."""
        return event.event_type is EventType.MESSAGE and _which(event) in self._heard

    def begin(self, turn: TurnRecord) -> None:
        """Hold the turn of an album's first part, which is stored and not queued."""
        self._heard[_which(event_from_json(turn.event_json))] = None
        while len(self._heard) > _REMEMBERED:
            self._heard.popitem(last=False)
        self._open[turn.session_key] = _Album(turn, self._timer(turn.session_key))

    async def join(self, event: InboundEvent, key: SessionKey, line_of: LineOf) -> bool:
        """Add a part to its album's turn. False when none waits for it, or the part was seen before."""
        async with self._joining:
            album = self._open.get(key)
            if album is None:
                return False
            begun = event_from_json(album.turn.event_json)
            if not belongs_to(event, begun):
                return False
            album.timer.cancel()
            try:
                whole = joined(begun, event)
                text, now = event_to_json(whole), self._clock()
                if not await self._events.join(
                    claim_ids(event), key, whole.event_id, text, now, line_of(whole)
                ):
                    return False
                album.turn = replace(album.turn, event_json=text)
                return True
            finally:
                album.timer = self._timer(key)

    async def release(self, key: SessionKey) -> None:
        """Queue the session's waiting album now: something else comes after it, or wants to see it."""
        if key in self._open:
            async with self._joining:
                self._release(key)

    async def rename(self, old: SessionKey, new: SessionKey, renamed: RenameTurn) -> None:
        """The albums of a chat's sessions wait on under the chat's new key."""
        async with self._joining:
            for key in [key for key in self._open if key == old or key.startswith(f"{old}:")]:
                album = self._open.pop(key)
                album.timer.cancel()
                self.begin(renamed(album.turn, SessionKey(new + key.removeprefix(old))))

    def close(self) -> None:
        """What waits is in the store and begins after the next start."""
        for album in self._open.values():
            album.timer.cancel()
        self._open.clear()

    def _timer(self, key: SessionKey) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(QUIET_SECONDS, self._release, key)

    def _release(self, key: SessionKey) -> None:
        album = self._open.pop(key, None)
        if album is not None:
            album.timer.cancel()
            self._queues.submit(album.turn)


def belongs_to(part: InboundEvent, whole: InboundEvent) -> bool:
    """Is it a further new part of the same album, from the same sender in the same place?"""
    return bool(part.album_id) and part.event_type is EventType.MESSAGE and _which(part) == _which(whole)


def _which(part: InboundEvent) -> tuple[object, ...]:
    return part.album_id, part.sender, part.address


def joined(whole: InboundEvent, part: InboundEvent) -> InboundEvent:
    """The event with the part's words and files behind its own, words before files."""
    blocks = (*whole.content, *part.content)
    words = tuple(block for block in blocks if block.type is BlockType.TEXT)
    files = tuple(block for block in blocks if block.type is not BlockType.TEXT)
    ids = dict.fromkeys((*whole.dedup_ids, part.event_id, *part.dedup_ids))
    return replace(whole, content=words + files, dedup_ids=tuple(ids))
