"""Who listens in this process, and the queue of each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from echo_bot.bus.protocol import Signal

_QUEUE_LENGTH = 1000


class QueuedSubscription:
    """A bounded queue. A listener that falls behind loses the oldest: a signal only says where to look."""

    def __init__(self, owner: Subscribers, topics: frozenset[str]) -> None:
        self._owner = owner
        self.topics = topics
        self._queue: asyncio.Queue[Signal | None] = asyncio.Queue(_QUEUE_LENGTH)

    def offer(self, signal: Signal | None) -> None:
        if self._queue.full():
            self._queue.get_nowait()
        self._queue.put_nowait(signal)

    async def __aiter__(self) -> AsyncIterator[Signal]:
        while (signal := await self._queue.get()) is not None:
            yield signal

    def close(self) -> None:
        if self._owner.drop(self):
            self.offer(None)


class Subscribers:
    """The open subscriptions."""

    def __init__(self) -> None:
        self._open: list[QueuedSubscription] = []

    def add(self, topics: frozenset[str]) -> QueuedSubscription:
        subscription = QueuedSubscription(self, topics)
        self._open.append(subscription)
        return subscription

    def drop(self, subscription: QueuedSubscription) -> bool:
        """False when it was dropped before."""
        if subscription not in self._open:
            return False
        self._open.remove(subscription)
        return True

    def tell(self, signal: Signal) -> None:
        for subscription in self._open:
            if signal.topic in subscription.topics:
                subscription.offer(signal)

    def close(self) -> None:
        for subscription in tuple(self._open):
            subscription.close()
