"""Updates on their way to the store: in order within a chat, chats side by side, an album as one."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog
from telegram import Update
from telegram.error import TelegramError

from channels.telegram.inbound import message_of
from echo_bot.errors import EchoBotError

log = structlog.get_logger(__name__)

Take = Callable[[tuple[Update, ...]], Awaitable[None]]
"""Stores what one update, or the parts of one album, say. Raises when it is not stored."""

_TRIES_PER_UPDATE = 5
_ALBUMS_REMEMBERED = 200


class Held(Exception):
    """An earlier update of the same chat is not stored, so this one waits for its turn."""


@dataclass(eq=False, slots=True)
class _Batch:
    """One update, or the parts of an album as far as they have come."""

    lane: str
    album: str
    updates: list[Update]
    grown: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(update.update_id for update in self.updates)


class Intake:
    """Hands updates to `take`. Whatever keeps one chat waiting keeps no other.

    The task of an update ends once it is stored, and raises if it was not: then it may be submitted again.
    An update that is on its way is not begun a second time. One that the core or this adapter cannot take, by
    a fault of theirs, is dropped after a few tries, so that its chat does not stand still for good.
    """

    def __init__(self, take: Take, account: str, album_quiet_seconds: float) -> None:
        self._take, self._account, self._quiet = take, account, album_quiet_seconds
        self._running: dict[int, _Batch] = {}
        self._last_in_lane: dict[str, _Batch] = {}
        self._open_albums: dict[str, _Batch] = {}
        self._taken_albums: OrderedDict[str, None] = OrderedDict()
        self._tries: dict[int, int] = {}
        self._hurry = asyncio.Event()

    def submit(self, update: Update) -> asyncio.Task[None]:
        batch = self._running.get(update.update_id) or self._open_albums.get(album_of(update))
        if batch is None:
            batch = self._begin(update)
        elif update.update_id not in self._running:
            batch.updates.append(update)
            batch.grown.set()
        self._running[update.update_id] = batch
        assert batch.task is not None
        return batch.task

    async def drain(self, patience_seconds: float) -> None:
        """Wait for no further album parts; let what is on its way be stored, and end what takes longer."""
        self._hurry.set()
        tasks = {batch.task for batch in self._running.values() if batch.task is not None}
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=patience_seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, update: Update) -> _Batch:
        batch = _Batch(lane_of(update), album_of(update), [update])
        before = self._last_in_lane.get(batch.lane)
        name = f"telegram:{self._account}:update:{update.update_id}"
        batch.task = asyncio.create_task(self._store(batch, before), name=name)
        batch.task.add_done_callback(_retrieve)
        self._last_in_lane[batch.lane] = batch
        if batch.album:
            self._open_albums[batch.album] = batch
        return batch

    async def _store(self, batch: _Batch, before: _Batch | None) -> None:
        try:
            if before is not None:
                await _passed(before)
            if batch.album:
                await self._settle(batch)
            await self._take(tuple(sorted(batch.updates, key=lambda update: update.update_id)))
        except (TelegramError, EchoBotError, Held):
            raise
        except Exception:
            if not self._gives_up_on(batch):
                raise
            log.exception("telegram_update_dropped", account=self._account, updates=batch.ids)
        else:
            self._tries.pop(batch.ids[0], None)
            self._note_taken(batch)
        finally:
            self._end(batch)

    async def _settle(self, batch: _Batch) -> None:
        """Wait until no part has come for a while; from then on the album takes no more.

        Parts that come after it was taken wait for nothing: its turn is soon to begin.
        """
        while not self._hurry.is_set() and batch.album not in self._taken_albums:
            batch.grown.clear()
            waits = [asyncio.create_task(each.wait()) for each in (batch.grown, self._hurry)]
            try:
                done, _ = await asyncio.wait(waits, timeout=self._quiet, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
            if not done:
                break
        self._close_album(batch)

    def _note_taken(self, batch: _Batch) -> None:
        if batch.album:
            self._taken_albums[batch.album] = None
            while len(self._taken_albums) > _ALBUMS_REMEMBERED:
                self._taken_albums.popitem(last=False)

    def _close_album(self, batch: _Batch) -> None:
        if self._open_albums.get(batch.album) is batch:
            del self._open_albums[batch.album]

    def _end(self, batch: _Batch) -> None:
        self._close_album(batch)
        for update_id in batch.ids:
            self._running.pop(update_id, None)
        if self._last_in_lane.get(batch.lane) is batch:
            del self._last_in_lane[batch.lane]

    def _gives_up_on(self, batch: _Batch) -> bool:
        first = batch.ids[0]
        self._tries[first] = self._tries.get(first, 0) + 1
        if self._tries[first] < _TRIES_PER_UPDATE:
            return False
        del self._tries[first]
        return True


def lane_of(update: Update) -> str:
    """What an update must not overtake: a message its chat's others, a press that person's others there."""
    query = update.callback_query
    if query is not None:
        place = query.message.chat.id if query.message is not None else ""
        return f"press:{place}:{query.from_user.id}"
    message = message_of(update)
    return f"chat:{message.chat.id}" if message is not None else f"update:{update.update_id}"


def album_of(update: Update) -> str:
    """The album that a new message is a part of; empty for everything else, edits of parts included."""
    message = update.message or update.channel_post
    return f"{message.chat.id}:{message.media_group_id}" if message and message.media_group_id else ""


async def _passed(before: _Batch) -> None:
    assert before.task is not None
    await asyncio.wait({before.task})
    if before.task.cancelled() or before.task.exception() is not None:
        raise Held


def _retrieve(task: asyncio.Task[None]) -> None:
    """Whoever submitted may have gone; the failure shows in that the update comes again."""
    if not task.cancelled():
        task.exception()
