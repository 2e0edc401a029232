"""What comes from a server, watched: answers pass, most notifications are dropped, a flood ends it."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

import anyio
from mcp.client._transport import ReadStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCResponse

BURST = 500
PER_SECOND = 100.0
_WANTED = frozenset(
    {
        "notifications/tools/list_changed",
        "notifications/cancelled",
        "notifications/subscriptions/acknowledged",
    }
)
Item = SessionMessage | Exception


class End:
    """Whether a connection is over, and the first reason that was given."""

    def __init__(self, on_end: Callable[[], None] = lambda: None) -> None:
        self.event = anyio.Event()
        self.why = ""
        self._on_end = on_end

    def come(self, why: str) -> None:
        self.why = self.why or why
        self.event.set()
        self._on_end()


class Budget:
    """How much a server may say unasked: a burst, and so many messages a second for long."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._left, self._at = clock, float(BURST), clock()

    def spend(self) -> bool:
        """False when there is nothing left."""
        now = self._clock()
        self._left = min(self._left + (now - self._at) * PER_SECOND, float(BURST))
        self._at = now
        self._left -= 1.0
        return self._left >= 0.0


class WatchedStream:
    """The read stream of a session. Its end, whatever the reason, becomes the connection's."""

    def __init__(self, inner: ReadStream[Item], end: End, budget: Budget) -> None:
        self._inner, self._end, self._budget = inner, end, budget

    async def receive(self) -> Item:
        while True:
            try:
                item = await self._inner.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                self._end.come("it closed the connection")
                raise
            if isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCResponse | JSONRPCError):
                return item
            if not self._budget.spend():
                self._end.come("it sent too many messages nobody asked for")
                raise anyio.EndOfStream
            if isinstance(item, Exception) or _is_wanted(item):
                return item

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> WatchedStream:
        return self

    async def __anext__(self) -> Item:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> WatchedStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        await self.aclose()
        return None


def _is_wanted(item: SessionMessage) -> bool:
    """Requests are: they are refused by name. Progress and log lines are not."""
    message = item.message
    return not isinstance(message, JSONRPCNotification) or message.method in _WANTED
