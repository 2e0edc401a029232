"""When something was said, by this machine's clock, which need not be Discord's."""

from __future__ import annotations

import time
from collections import deque
from datetime import UTC, datetime, timedelta

_SAME = timedelta(minutes=10)
"""Clocks that are less apart count as the same: a message may have been on its way for a while."""

_LOOKED_AT = 10


class Timing:
    """Learns how far the clocks are apart from new messages, and of earlier runs from what was noted then.

    A message may come late, as after this machine slept, but never early: the least difference of the last
    few is nearest to the clocks'. So nothing that is told late counts as new.
    """

    def __init__(self) -> None:
        self._last = deque[timedelta](maxlen=_LOOKED_AT)
        self._ran_ahead = _wall_before_steady()

    def new(self, written_at: datetime) -> datetime:
        """When a message was said that is told at once and was written at this time of Discord's.

        Just now, unless others came much sooner.
        """
        self._forget_after_a_jump()
        apart = datetime.now(UTC) - written_at
        self._last.append(apart)
        return written_at + _noticed(apart if apart - min(self._last) <= _SAME else min(self._last))

    @property
    def is_known(self) -> bool:
        return bool(self._last)

    def learn(self, written_at: datetime, noted_at: datetime) -> None:
        """A message of Discord's time `written_at` was noted when this machine's clock showed `noted_at`."""
        self._last.append(noted_at - written_at)

    def here(self, discords: datetime) -> datetime:
        """What this machine's clock showed at a time of Discord's."""
        return discords + self._apart()

    def there(self, ours: datetime) -> datetime:
        """What Discord's clock showed at a time of this machine's."""
        return ours - self._apart()

    def _apart(self) -> timedelta:
        return _noticed(min(self._last, default=timedelta()))

    def _forget_after_a_jump(self) -> None:
        """This machine slept or its clock was set: what was learned holds no longer."""
        ahead = _wall_before_steady()
        if abs(ahead - self._ran_ahead) > _SAME.total_seconds():
            self._last.clear()
        self._ran_ahead = ahead


def _wall_before_steady() -> float:
    """Seconds; the same until this machine sleeps or its clock is set."""
    return time.time() - time.monotonic()


def _noticed(apart: timedelta) -> timedelta:
    return apart if abs(apart) > _SAME else timedelta()
