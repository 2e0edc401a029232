"""Faults of the HTTP side on demand: a status, a wait, a dropped connection, before or after the work."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from fnmatch import fnmatchcase


@dataclass(slots=True)
class Fault:
    """What the next `times` calls that match meet instead of their answer; a `body` of text is a page.

    `status` 0 drops the connection. With `after` the work is done and only the answer is lost.
    """

    method: str
    path: str
    status: int
    body: dict[str, object] | str = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1
    after: bool = False
    met: int = 0

    def matches(self, method: str, path: str) -> bool:
        return self.met < self.times and _matches(self.method, self.path, method, path)


class Faults:
    """The faults still to come, in the order they were asked for; `hold` lets calls wait."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._held: list[tuple[str, str, asyncio.Event]] = []

    def add(self, fault: Fault) -> Fault:
        self._faults.append(fault)
        return fault

    def clear(self) -> None:
        self._faults.clear()
        for _, _, event in self._held:
            event.set()
        self._held.clear()

    def take(self, method: str, path: str) -> Fault | None:
        for fault in self._faults:
            if fault.matches(method, path):
                fault.met += 1
                return fault
        return None

    def hold(self, method: str, path: str) -> asyncio.Event:
        """Matching calls wait until the event that is returned is set."""
        event = asyncio.Event()
        self._held.append((method, path, event))
        return event

    async def wait_if_held(self, method: str, path: str) -> None:
        for wanted, pattern, event in list(self._held):
            if _matches(wanted, pattern, method, path):
                await event.wait()


def _matches(wanted: str, pattern: str, method: str, path: str) -> bool:
    return wanted in (method, "*") and fnmatchcase(path, pattern)
