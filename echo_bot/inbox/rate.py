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

    def take(self, sender: str, now: float) -> tuple[bool, bool]:
        """(may this message pass, should the sender be told). The second is True at most once a minute."""
        if self._rate <= 0 or sender in self._exempt:
            return True, False
        bucket = self._buckets.setdefault(sender, _Bucket(float(self._burst), now))
        self._buckets.move_to_end(sender)
        if len(self._buckets) > _MOST_SENDERS:
            self._buckets.popitem(last=False)
        bucket.tokens = min(self._burst, bucket.tokens + (now - bucket.at) * self._rate)
        bucket.at = now
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return True, False
        notice = now - bucket.noticed_at >= _WINDOW_SECONDS
        if notice:
            bucket.noticed_at = now
        return False, notice
