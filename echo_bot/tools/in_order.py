"""Calls that a model makes at once come before the gate in their order, so that their cards stand in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

_PATIENCE_SECONDS = 2.0


class InOrder:
    """The calls of one turn. An order that takes long to keep is given up: no call waits for a slow chat."""

    def __init__(self, patience_seconds: float = _PATIENCE_SECONDS) -> None:
        self._patience = patience_seconds
        self._last: asyncio.Event | None = None

    @asynccontextmanager
    async def place(self) -> AsyncIterator[Callable[[], None]]:
        """Begins when the calls before have left, or after a while; what it gives lets the next one begin."""
        before, mine = self._last, asyncio.Event()
        self._last = mine
        try:
            if before is not None:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._patience):
                        await before.wait()
            yield mine.set
        finally:
            mine.set()
