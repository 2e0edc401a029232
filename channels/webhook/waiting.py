"""Callers who wait for the answer in the response of their call."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from echo_bot.events import Address, OutboundText


@dataclass(slots=True)
class Wait:
    """One caller. `said` is by delivery id, in order; the answer is what replies to the caller's message."""

    message_id: str
    said: dict[str, OutboundText] = field(default_factory=dict)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_answered(self) -> bool:
        return any(message.reply_to_id == self.message_id for message in self.said.values())

    async def for_answer(self, seconds: float) -> None:
        """Wait for it up to so long, or until the channel stops."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.ended.wait()


class Waits:
    """All of them, by chat."""

    def __init__(self) -> None:
        self._waits: dict[Address, list[Wait]] = {}

    @contextmanager
    def open(self, address: Address, message_id: str) -> Iterator[Wait]:
        """What is said in the chat from now on."""
        wait = Wait(message_id)
        self._waits.setdefault(address, []).append(wait)
        try:
            yield wait
        finally:
            self._waits[address].remove(wait)
            if not self._waits[address]:
                del self._waits[address]

    def tell(self, address: Address, delivery_id: str, message: OutboundText) -> bool:
        """Somebody waits in this chat and has it now; a repeated delivery counts once."""
        waits = self._waits.get(address, ())
        for wait in waits:
            wait.said.setdefault(delivery_id, message)
            if wait.is_answered:
                wait.ended.set()
        return bool(waits)

    def close(self) -> None:
        """Nothing more is said: every caller gets what there is."""
        for waits in self._waits.values():
            for wait in waits:
                wait.ended.set()
