"""The sign in a chat that the bot is at work: only while a turn takes longer than a moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

_AFTER_SECONDS = 0.5
"""A bot that has much to do spends no calls on signs for answers that are about to come."""

_AGAIN_SECONDS = 4.0


@asynccontextmanager
async def shown_at_work(show: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Call `show` after a moment, and again and again until the body ends."""
    task: asyncio.Task[None] | None = None

    def begin() -> None:
        nonlocal task
        task = asyncio.create_task(_keep(show), name="typing")

    timer = asyncio.get_running_loop().call_later(_AFTER_SECONDS, begin)
    try:
        yield
    finally:
        timer.cancel()
        if task is not None:
            task.cancel()
            await asyncio.wait({task})


async def _keep(show: Callable[[], Awaitable[None]]) -> None:
    while True:
        await show()
        await asyncio.sleep(_AGAIN_SECONDS)
