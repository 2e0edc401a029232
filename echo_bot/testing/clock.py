"""Time for tests: it goes like the real one, and is moved at will."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta


class MovedClock:
    """Now, and as much later or earlier as it was moved; `clock=` of `running_bot`."""

    def __init__(self) -> None:
        self._moved = timedelta(0)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self._moved

    def move(self, **by: float) -> None:
        """By a `timedelta`'s arguments: `move(hours=1)`."""
        self._moved += timedelta(**by)

    def move_to(self, moment: datetime) -> None:
        """Just past that moment."""
        self._moved += moment - self() + timedelta(milliseconds=1)


def let_pass(seconds: float) -> None:
    """Move the time of the running event loop on: whatever sleeps or is bound for less goes on at once."""
    loop = asyncio.get_running_loop()
    before = loop.time
    loop.time = lambda: before() + seconds  # type: ignore[method-assign]
