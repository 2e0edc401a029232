"""Pauses that grow while something goes on failing."""

from __future__ import annotations

_MOST_DOUBLINGS = 30
"""More, and no number would hold it."""


def backoff(failures: int, first_seconds: float, most_seconds: float) -> float:
    """Seconds before the next try: `first_seconds`, doubled for each earlier failure."""
    return min(first_seconds * 2.0 ** min(failures, _MOST_DOUBLINGS), most_seconds)
