"""Faults on demand: a refusal, a wait, a dropped connection, before or after the method did its work."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from echo_bot.testing.slack.errors import ApiError


@dataclass(slots=True)
class Fault:
    """What the next `times` calls of `method` ("*" for any) meet instead of their answer.

    `error` None drops the connection. With `after` the work is done and only the answer is lost.
    """

    method: str
    error: ApiError | None
    times: int = 1
    after: bool = False
    met: int = 0


class Faults:
    """The faults still to come, in the order they were asked for; `hold` lets calls wait."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._held: dict[str, asyncio.Event] = {}

    def add(self, fault: Fault) -> Fault:
        self._faults.append(fault)
        return fault

    def clear(self) -> None:
        self._faults.clear()
        for held in self._held.values():
            held.set()
        self._held.clear()

    def take(self, method: str) -> Fault | None:
        for fault in self._faults:
            if fault.method in (method, "*") and fault.met < fault.times:
                fault.met += 1
                return fault
        return None

    def hold(self, method: str) -> asyncio.Event:
        """Calls of `method` wait until the event that is returned is set."""
        return self._held.setdefault(method, asyncio.Event())

    async def wait_if_held(self, method: str) -> None:
        if method in self._held:
            await self._held[method].wait()
