"""What is said, worked off one after the other in the order in which Discord told it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from echo_bot.errors import EchoBotError

log = structlog.get_logger(__name__)

_PAUSES_SECONDS = (0.2, 0.5, 1.0, 3.0, 10.0)

Work = Callable[[], Awaitable[None]]


class Intake:
    """Discord tells a message once, so what cannot be stored is tried again before the next one's turn.

    `error` says why something is not stored, for `status`.
    """

    def __init__(self, account: str) -> None:
        self._account = account
        self._waiting: asyncio.Queue[Work] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self.error = ""

    def open(self) -> None:
        self._task = asyncio.create_task(self._run(), name=f"discord:{self._account}:intake")

    def put(self, work: Work) -> None:
        self._waiting.put_nowait(work)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        while True:
            work = await self._waiting.get()
            try:
                await self._work_off(work)
            except Exception as error:  # noqa: BLE001 one message that cannot be read stops no other
                log.error("discord_message_failed", account=self._account, error=type(error).__name__)

    async def _work_off(self, work: Work) -> None:
        for pause in (*_PAUSES_SECONDS, 0.0):
            try:
                await work()
                self.error = ""
                return
            except EchoBotError as error:
                self.error = f"A message could not be stored: {error}"
                log.warning("discord_message_not_stored", account=self._account, error=str(error))
                await asyncio.sleep(pause)
        log.error("discord_message_lost", account=self._account)
