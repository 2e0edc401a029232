"""When something was said, by this machine's clock, which need not be Discord's."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime, timedelta

_SAME = timedelta(minutes=10)
"""Clocks that are less apart count as the same: a message may have been on its way for a while."""


_LOOKED_AT = 10


class Timing:
    """Learns from new messages how far the clocks are apart, and dates what is told later by that.

    A message may come late, as after this machine slept, but never early: the least difference of the last
    few is nearest to the clocks'. So nothing that is told again counts as new because one came late.
    """

    def __init__(self) -> None:
        self._last = deque[timedelta](maxlen=_LOOKED_AT)

    def new(self, written_at: datetime) -> datetime:
        """When a message was written that is told at once, at this time of Discord's: just now."""
        apart = datetime.now(UTC) - written_at
        self._last.append(apart)
        return written_at + _noticed(apart)

    def here(self, discords: datetime) -> datetime:
        """What this machine's clock showed at a time of Discord's."""
        return discords + _noticed(min(self._last, default=timedelta()))


def _noticed(apart: timedelta) -> timedelta:
    return apart if abs(apart) > _SAME else timedelta()
