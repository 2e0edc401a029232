"""When something was said, by this machine's clock, which need not be Discord's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_SAME = timedelta(minutes=10)
"""Clocks that are less apart count as the same: a message may have been on its way for a while."""


class Timing:
    """Learns from new messages how far the clocks are apart, and dates what is told later by that."""

    def __init__(self) -> None:
        self._apart = timedelta()

    def is_new(self, written_at: datetime) -> None:
        """A message that was written just now, at this time of Discord's."""
        apart = datetime.now(UTC) - written_at
        self._apart = apart if abs(apart) > _SAME else timedelta()

    def here(self, discords: datetime) -> datetime:
        """What this machine's clock showed at a time of Discord's."""
        return discords + self._apart
