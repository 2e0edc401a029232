"""When a job runs: three kinds of schedule as frozen values, and the moment each comes next.

Everything here is exact over daylight saving time. A cron expression with a fixed minute and hour runs once a
day on which it comes twice, and where its time is left out at the first moment after; one with a wildcard
there runs whenever the clock on the wall says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from cronsim import CronSim, CronSimError

_MINUTE = timedelta(minutes=1)
_SECOND = timedelta(seconds=1)
_LAST_YEAR = 9990


@dataclass(frozen=True, slots=True)
class Cron:
    """A five-field expression, read on the wall clock of the job's zone."""

    expression: str


@dataclass(frozen=True, slots=True)
class Every:
    """At whole intervals after `anchor`, however the clocks are set."""

    interval: timedelta
    anchor: datetime


@dataclass(frozen=True, slots=True)
class Once:
    """At one moment."""

    at: datetime


Schedule = Cron | Every | Once


def next_after(schedule: Schedule, at: datetime, zone: tzinfo) -> datetime | None:
    """The first run later than `at`, in UTC; None when there is none."""
    at = at.astimezone(UTC)
    match schedule:
        case Once(moment):
            return moment if moment > at else None
        case Every(interval, anchor):
            passed = max((at - anchor) // interval, 0)
            return anchor + (passed + 1) * interval
        case Cron(expression):
            return _next_cron(expression, at, zone)


def upcoming(schedule: Schedule, at: datetime, zone: tzinfo, count: int) -> tuple[datetime, ...]:
    """The next runs after `at`, at most `count` of them."""
    found: list[datetime] = []
    moment: datetime | None = at
    while len(found) < count and moment is not None:
        moment = next_after(schedule, moment, zone)
        if moment is not None:
            found.append(moment)
    return tuple(found)


def is_cron(expression: str) -> bool:
    """Is this a cron expression of five fields?"""
    if len(expression.split()) != 5:
        return False
    try:
        CronSim(expression, datetime(2000, 1, 1))
    except CronSimError:
        return False
    return True


def in_words(expression: str) -> str:
    """A cron expression as a phrase: 'at 08:00 on Monday'."""
    words = CronSim(expression, datetime(2000, 1, 1)).explain()
    return words[:1].lower() + words[1:]


def moment_of(wall: datetime, zone: tzinfo) -> datetime:
    """The moment at which the clock on the wall shows `wall`, in UTC.

    The first one where it does so twice; where the time is left out, the first moment after the gap.
    """
    while _is_left_out(wall, zone):
        wall += _MINUTE
    return wall.replace(tzinfo=zone).astimezone(UTC)


def _next_cron(expression: str, at: datetime, zone: tzinfo) -> datetime | None:
    minute, hour = expression.split()[:2]
    if minute.startswith("*") or hour.startswith("*"):
        return _next_wildcard(expression, at, zone)
    return next((moment for moment in _fixed_times(expression, at, zone) if moment > at), None)


def _fixed_times(expression: str, at: datetime, zone: tzinfo) -> Iterator[datetime]:
    """Each match once, from one that is not after `at`: the wall clock may have been set back since."""
    for wall in _walls(expression, _wall(at, zone)):
        yield moment_of(wall, zone)


def _next_wildcard(expression: str, at: datetime, zone: tzinfo) -> datetime | None:
    """The next moment, between one change of the clocks and the following, whose wall time matches."""
    offset = _offset(at, zone)
    wall = (at + offset).replace(tzinfo=None)
    while True:
        match = next(_walls(expression, wall), None)
        if match is None:
            return None
        moment = match.replace(tzinfo=UTC) - offset
        if _offset(moment, zone) == offset:
            return moment
        at = _change_between(at, moment, zone)
        offset = _offset(at, zone)
        wall = (at + offset).replace(tzinfo=None) - _SECOND


def _walls(expression: str, after: datetime) -> Iterator[datetime]:
    """Wall times that match, later than `after`."""
    for wall in CronSim(expression, after):
        if wall.year > _LAST_YEAR:
            return
        yield wall


def _change_between(before: datetime, after: datetime, zone: tzinfo) -> datetime:
    """The moment, to the second, at which the clocks are changed from how they are set at `before`."""
    offset = _offset(before, zone)
    while after - before > _SECOND:
        middle = before + (after - before) / 2
        if _offset(middle, zone) == offset:
            before = middle
        else:
            after = middle
    return after.replace(microsecond=0)


def _is_left_out(wall: datetime, zone: tzinfo) -> bool:
    there = wall.replace(tzinfo=zone)
    return there.astimezone(UTC).astimezone(zone).replace(tzinfo=None, fold=0) != wall


def _wall(at: datetime, zone: tzinfo) -> datetime:
    return at.astimezone(zone).replace(tzinfo=None, fold=0)


def _offset(at: datetime, zone: tzinfo) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta(0)
