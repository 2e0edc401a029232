"""What time it is at a platform, told by its own answers: this machine's clock may be wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from email.utils import parsedate_to_datetime

_ALIKE = timedelta(minutes=1)
"""Within so much an answer may just have been on its way."""


class PlatformClock:
    """How far this machine's clock is ahead of the platform's, also when somebody sets it right meanwhile."""

    def __init__(
        self, clock: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock, self._monotonic = clock, monotonic
        self._began_at: float | None = None

    def heard(self, date: str) -> None:
        """The `Date` of an answer that has just come."""
        try:
            told = parsedate_to_datetime(date).timestamp()
        except (ValueError, OverflowError):
            return
        self._began_at = told - self._monotonic()

    @property
    def ahead(self) -> timedelta:
        """To be added to the platform's times; none while the clocks agree, or it has told no date yet."""
        if self._began_at is None:
            return timedelta()
        ahead = timedelta(seconds=self._clock() - self._monotonic() - self._began_at)
        return ahead if abs(ahead) > _ALIKE else timedelta()
