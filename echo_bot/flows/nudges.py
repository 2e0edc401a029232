"""Tells a run under way that something about it changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Nudges:
    """One event for each workflow whose turn runs in this process."""

    def __init__(self) -> None:
        self._events: dict[str, asyncio.Event] = {}

    @contextmanager
    def listening(self, workflow_id: str) -> Iterator[asyncio.Event]:
        event = self._events[workflow_id] = asyncio.Event()
        try:
            yield event
        finally:
            if self._events.get(workflow_id) is event:
                del self._events[workflow_id]

    def nudge(self, workflow_id: str) -> None:
        event = self._events.get(workflow_id)
        if event is not None:
            event.set()
