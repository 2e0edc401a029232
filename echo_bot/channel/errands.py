"""Small tasks of an adapter beside its receiving: owned, and ended when the channel stops."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

import structlog

log = structlog.get_logger(__name__)


class Errands:
    """Runs coroutines that handle their own errors. `close` gives them a moment, then cancels them."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()

    def run(self, errand: Coroutine[object, object, object], name: str) -> asyncio.Task[object]:
        task = asyncio.get_running_loop().create_task(errand, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("errand_failed", errand=task.get_name(), error=type(error).__name__)

    async def close(self, patience_seconds: float) -> None:
        tasks = list(self._tasks)
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=patience_seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
