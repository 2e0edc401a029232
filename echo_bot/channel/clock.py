"""What time it is at a platform, told by its own answers: this machine's clock may be wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_ALIKE = timedelta(minutes=1)
"""Within so much an answer may just have been on its way."""


class PlatformClock:
    """How far this machine's clock is ahead of the platform's.

    Not known from when this machine slept or its clock was set until the next answer: which of the two it was
    nobody tells, and what waited while it slept must not count as new.
    """

    def __init__(
        self, clock: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock, self._monotonic = clock, monotonic
        self._told = timedelta()
        self._started_at = 0.0

    def heard(self, date: str) -> None:
        """The `Date` of an answer that has just come; one that names no zone is of UTC, as in all of HTTP."""
        try:
            told = parsedate_to_datetime(date)
        except (ValueError, OverflowError):
            return
        at = told if told.tzinfo is not None else told.replace(tzinfo=UTC)
        self._told = datetime.fromtimestamp(self._clock(), UTC) - at
        self._started_at = self._start()

    @property
    def ahead(self) -> timedelta:
        """To be added to the platform's times; none while the clocks agree, or as long as it is not known."""
        has_jumped = abs(self._start() - self._started_at) > _ALIKE.total_seconds()
        return self._told if abs(self._told) > _ALIKE and not has_jumped else timedelta()

    def _start(self) -> float:
        """When this machine seems to have started; the same until it sleeps or its clock is set."""
        return self._clock() - self._monotonic()
