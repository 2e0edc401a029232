"""Places for workers: so many over the whole bot, and the conversations that wait for one take turns."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Places:
    """At most `most` are taken at once. Whoever waits gets one: nobody is turned away, and nothing is polled.

    The owners are served in turn, and each one's in the order in which they came.
    """

    def __init__(self, most: int) -> None:
        self._free = most
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    async def take(self, owner: str) -> None:
        """Returns with a place; a wait that is cancelled leaves none taken."""
        if self._free and not self._waiting:
            self._free -= 1
            return
        given: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(given)
        try:
            await given
        except asyncio.CancelledError:
            if given.done() and not given.cancelled():
                self.leave()
            else:
                self._forget(owner, given)
            raise

    def leave(self) -> None:
        """Give one back."""
        self._free += 1
        while self._free and self._waiting:
            owner = next(iter(self._waiting))
            queue = self._waiting.pop(owner)
            given = queue.popleft()
            if queue:
                self._waiting[owner] = queue  # behind all other owners
            if not given.done():
                given.set_result(None)
                self._free -= 1

    def _forget(self, owner: str, given: asyncio.Future[None]) -> None:
        queue = self._waiting.get(owner)
        if queue is not None and given in queue:
            queue.remove(given)
            if not queue:
                del self._waiting[owner]


class Place:
    """One worker's place, given up while it waits for workers of its own: so depth never locks the bot up."""

    def __init__(self, places: Places, owner: str) -> None:
        self._places, self._owner = places, owner
        self._lock = asyncio.Lock()
        self._pauses, self._is_taken = 0, False

    @property
    def is_taken(self) -> bool:
        return self._is_taken

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """For the whole of its work."""
        try:
            await self._settle()
            yield
        finally:
            if self._is_taken:
                self._is_taken = False
                self._places.leave()

    @asynccontextmanager
    async def given_up(self) -> AsyncIterator[None]:
        """Without it, while calls of the worker wait; the last of them waits until it has one again.

        A worker that is cancelled takes none any more.
        """
        self._pauses += 1
        try:
            await self._settle()
            yield
        except asyncio.CancelledError:
            self._pauses -= 1
            raise
        except BaseException:
            self._pauses -= 1
            await self._settle()
            raise
        self._pauses -= 1
        await self._settle()

    async def _settle(self) -> None:
        async with self._lock:
            if self._pauses and self._is_taken:
                self._is_taken = False
                self._places.leave()
            elif not self._pauses and not self._is_taken:
                await self._places.take(self._owner)
                self._is_taken = True
