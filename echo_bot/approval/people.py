"""The paired senders, remembered for a moment: they are asked for with every message and every call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

from echo_bot.storage.protocol import People
from echo_bot.storage.records import PairedSender, PairingCode

_SECONDS = 0.5


class RememberedPeople:
    """`People` over the store. What another process pairs or unpairs is seen within half a second."""

    def __init__(self, people: People, monotonic: Callable[[], float]) -> None:
        self._people, self._monotonic = people, monotonic
        self._paired: tuple[PairedSender, ...] = ()
        self._read_at = float("-inf")
        self._reading = asyncio.Lock()

    async def paired(self) -> tuple[PairedSender, ...]:
        if self._is_old():
            async with self._reading:  # the messages of a flood share one reading
                if self._is_old():
                    now = self._monotonic()
                    self._paired, self._read_at = await self._people.paired(), now
        return self._paired

    async def redeem(self, code_hash: str, identity: str, now: datetime) -> PairedSender | None:
        self._forget()
        try:
            return await self._people.redeem(code_hash, identity, now)
        finally:
            self._forget()

    async def unpair(self, identity: str) -> bool:
        try:
            return await self._people.unpair(identity)
        finally:
            self._forget()

    async def add_code(self, code: PairingCode) -> None:
        await self._people.add_code(code)

    async def open_codes(self, now: datetime) -> int:
        return await self._people.open_codes(now)

    async def misses(self, identity: str, since: datetime) -> int:
        return await self._people.misses(identity, since)

    def _is_old(self) -> bool:
        return self._monotonic() - self._read_at >= _SECONDS

    def _forget(self) -> None:
        self._read_at = float("-inf")
