"""What is said, worked off in the order in which Discord told it: chats beside each other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from echo_bot.errors import EchoBotError

log = structlog.get_logger(__name__)

_PAUSES_SECONDS = (0.2, 0.5, 1.0, 3.0, 10.0)

Work = Callable[[], Awaitable[None]]


class Intake:
    """Discord tells a message once, so what cannot be stored is tried again, and meanwhile nothing begins.

    `error` says why something is not stored, for `status`.
    """

    def __init__(self, account: str) -> None:
        self._account = account
        self._waiting: asyncio.Queue[tuple[Work, int | None]] = asyncio.Queue()
        self._last: dict[int, asyncio.Task[None]] = {}
        self._begun: set[asyncio.Task[None]] = set()
        self._trouble = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self.error = ""

    def open(self) -> None:
        self._task = asyncio.create_task(self._run(), name=f"discord:{self._account}:intake")

    def put(self, work: Work, channel_id: int | None = None) -> None:
        """After what came before it in the channel; without one, between all before and all after it."""
        self._waiting.put_nowait((work, channel_id))

    async def close(self) -> None:
        tasks = {self._task, *self._begun} if self._task is not None else self._begun
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _run(self) -> None:
        while True:
            work, channel_id = await self._waiting.get()
            if channel_id is None:
                if self._begun:
                    await asyncio.wait(self._begun)
                await self._work_off(work)
            else:
                self._begin(work, channel_id)

    def _begin(self, work: Work, channel_id: int) -> None:
        def ended(task: asyncio.Task[None]) -> None:
            self._begun.discard(task)
            if self._last.get(channel_id) is task:
                del self._last[channel_id]

        after = self._after(self._last.get(channel_id), work)
        task = asyncio.create_task(after, name=f"discord:{self._account}:{channel_id}")
        self._last[channel_id] = task
        self._begun.add(task)
        task.add_done_callback(ended)

    async def _after(self, before: asyncio.Task[None] | None, work: Work) -> None:
        if before is not None:
            await asyncio.wait({before})
        await self._work_off(work)

    async def _work_off(self, work: Work) -> None:
        try:
            if self._trouble.locked() or not await self._is_stored(work):
                await self._insist(work)
        except Exception as error:  # noqa: BLE001 one message that cannot be read stops no other
            log.error("discord_message_failed", account=self._account, error=type(error).__name__)

    async def _insist(self, work: Work) -> None:
        """One at a time: a fault that passes costs few messages, however many came meanwhile."""
        pauses = (0.0, *_PAUSES_SECONDS) if self._trouble.locked() else _PAUSES_SECONDS
        async with self._trouble:
            for pause in pauses:
                await asyncio.sleep(pause)
                if await self._is_stored(work):
                    return
        log.error("discord_message_lost", account=self._account)

    async def _is_stored(self, work: Work) -> bool:
        try:
            await work()
        except EchoBotError as error:
            self.error = f"A message could not be stored: {error}"
            log.warning("discord_message_not_stored", account=self._account, error=str(error))
            return False
        self.error = ""
        return True
