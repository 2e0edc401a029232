"""How fast one sender may speak: a token bucket each, and one notice per window."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

_MOST_SENDERS = 10_000
_WINDOW_SECONDS = 60.0


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float
    noticed_at: float = float("-inf")


class RateLimit:
    """`per_minute` refills, `burst` is the depth; 0 per minute is off. `now` is monotonic seconds."""

    def __init__(self, per_minute: float, burst: int, exempt: frozenset[str]) -> None:
        self._rate, self._burst, self._exempt = per_minute / 60, max(burst, 1), exempt
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, sender: str, now: float) -> bool:
        """May this message pass?"""
        if self._rate <= 0 or sender in self._exempt:
            return True
        bucket = self._buckets.setdefault(sender, _Bucket(float(self._burst), now))
        self._buckets.move_to_end(sender)
        if len(self._buckets) > _MOST_SENDERS:
            self._buckets.popitem(last=False)
        bucket.tokens = min(self._burst, bucket.tokens + (now - bucket.at) * self._rate)
        bucket.at = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True

    def tells(self, sender: str, now: float) -> bool:
        """Should the sender be told that one did not pass? True at most once a minute."""
        bucket = self._buckets.get(sender)
        if bucket is None or now - bucket.noticed_at < _WINDOW_SECONDS:
            return False
        bucket.noticed_at = now
        return True

    def give_back(self, sender: str) -> None:
        """What was taken for this message does not count: it came before, or could not be stored."""
        bucket = self._buckets.get(sender)
        if bucket is not None:
            bucket.tokens = min(self._burst, bucket.tokens + 1)
