"""From a text that a person or a model wrote to a schedule, or to a sentence that says what to write."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta, tzinfo

from echo_bot.scheduler.chinese import in_english
from echo_bot.scheduler.schedule import Cron, Every, Once, Schedule, is_cron, moment_of, next_after

LONGEST = 200
"""Characters of a schedule's text at most."""

MOMENTS = (
    "'in 20 minutes', 'in 1h30m', 'today 17:30', 'tomorrow 9:00', 'monday 8:00', '2026-12-24 18:00' or "
    "2026-12-24T18:00+01:00"
)
FORMS = (
    "write a cron expression (0 8 * * 1-5), @hourly, @daily, @weekly, @monthly or @yearly, "
    f"'every 15 minutes', 'every 2h', 'every day at 8:00', 'every monday at 9:30', {MOMENTS}"
)

_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = "|".join(f"{day}|{day[:3]}" for day in _DAYS)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_PIECE = r"\d{1,9}\s*(?:seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w)"
_SPAN = rf"{_PIECE}(?:[\s,]*(?:and\s+)?{_PIECE})*"
_TIME = r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>am|pm)?"
_LEAST = timedelta(minutes=1)
_MOST_SECONDS = 50 * 366 * 86400

_IN = re.compile(rf"in\s+(?P<span>{_SPAN})")
_EVERY_SPAN = re.compile(rf"every\s+(?P<span>{_SPAN}|minute|hour)")
_EVERY_DAY = re.compile(rf"(?:every\s+(?P<day>day|weekday|{_DAY})|(?P<daily>daily))\s*(?:,|at)?\s*{_TIME}")
_DAY_AT = re.compile(
    rf"(?:(?:on\s+|next\s+)?(?P<day>today|tonight|tomorrow|overmorrow|{_DAY})\s*(?:,|at)?|at)\s*{_TIME}"
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}[ t]\d{1,2}:\d{2}(?::\d{2})?\s*(?:z|[+-]\d{2}:?\d{2})?")


def read_schedule(text: str, now: datetime, zone: tzinfo) -> Schedule:
    """The schedule that `text` means when it is written at `now`, on the wall clock of `zone`.

    The same three always mean the same schedule. Raises ValueError with a sentence that says what to do.
    """
    if len(text) > LONGEST:
        raise ValueError(f"a schedule has at most {LONGEST} characters; {FORMS}")
    schedule = _read(text, now, zone)
    if schedule is None:
        raise ValueError(f"{text!r} is no schedule: {FORMS}")
    return _checked(schedule, text, now, zone)


def read_moment(text: str, now: datetime, zone: tzinfo) -> datetime:
    """The one moment that `text` means. Raises ValueError with a sentence, also for what comes again."""
    schedule = _read(text, now, zone) if len(text) <= LONGEST else None
    if schedule is None:
        raise ValueError(f"{text[:LONGEST]!r} is no time: write {MOMENTS}")
    if not isinstance(schedule, Once):
        raise ValueError(f"{text!r} comes again and again; name one moment, or use cronjob")
    _checked(schedule, text, now, zone)
    return schedule.at


def _read(text: str, now: datetime, zone: tzinfo) -> Schedule | None:
    written = " ".join(in_english(text).lower().split())
    found = (read(written, now.astimezone(UTC), zone) for read in _READERS)
    return next((schedule for schedule in found if schedule is not None), None)


def _checked(schedule: Schedule, text: str, now: datetime, zone: tzinfo) -> Schedule:
    if next_after(schedule, now, zone) is not None:
        return schedule
    if isinstance(schedule, Once):
        there = schedule.at.astimezone(zone)
        raise ValueError(f"{text!r} is in the past: it was at {there:%Y-%m-%d %H:%M %Z}; name a later time")
    raise ValueError(f"{text!r} never comes: no such day is in the calendar; name another day")


def _alias(text: str, now: datetime, zone: tzinfo) -> Schedule | None:
    if text == "@reboot":
        raise ValueError(
            "@reboot is not supported: the bot starts where its operator starts it, which is no time; "
            "name a time, such as @daily"
        )
    expression = _ALIASES.get(text)
    return Cron(expression) if expression else None


def _cron(text: str, now: datetime, zone: tzinfo) -> Schedule | None:
    fields = text.split()
    if len(fields) == 6 and is_cron(" ".join(fields[1:])) and re.fullmatch(r"[\d*,/-]+", fields[0]):
        raise ValueError(f"{text!r} has six fields; leave out the seconds: minute hour day month weekday")
    if is_cron(text):
        return Cron(text.upper())
    if len(fields) == 5 and all(re.fullmatch(r"[\d*][\d*,/-]*", field) for field in fields[:2]):
        raise ValueError(f"{text!r} never comes or is no valid cron expression; {FORMS}")
    return None


def _every(text: str, now: datetime, zone: tzinfo) -> Schedule | None:
    match = _EVERY_SPAN.fullmatch(text)
    if match is None:
        return None
    interval = {"minute": _LEAST, "hour": timedelta(hours=1)}.get(match["span"]) or _span(match["span"])
    if interval < _LEAST:
        raise ValueError(f"{text!r} is too often: at most once a minute")
    return Every(interval, now.replace(microsecond=0))


def _every_day(text: str, now: datetime, zone: tzinfo) -> Schedule | None:
    match = _EVERY_DAY.fullmatch(text)
    if match is None:
        return None
    at, day = _time(match), match["day"] or "day"
    weekdays = {"day": "*", "weekday": "1-5"}.get(day) or str(_weekday(day) + 1)
    return Cron(f"{at.minute} {at.hour} * * {weekdays}")


def _in(text: str, now: datetime, zone: tzinfo) -> Schedule | None:
    match = _IN.fullmatch(text)
    return Once(now.replace(microsecond=0) + _span(match["span"])) if match else None


def _day_at(text: str, now: datetime, zone: tzinfo) -> Schedule | None:
    match = _DAY_AT.fullmatch(text)
    if match is None or (match["day"] is None and not text.startswith("at")):
        return None
    at, day, today = _time(match), match["day"], now.astimezone(zone).date()
    if day in ("today", "tonight", "tomorrow", "overmorrow"):
        days = {"tomorrow": 1, "overmorrow": 2}.get(day, 0)
        return Once(moment_of(datetime.combine(today + timedelta(days=days), at), zone))
    days = 0 if day is None else (_weekday(day) - today.weekday()) % 7
    moment = moment_of(datetime.combine(today + timedelta(days=days), at), zone)
    if moment <= now or (days == 0 and "next" in text):
        moment = moment_of(datetime.combine(today + timedelta(days=days + (7 if day else 1)), at), zone)
    return Once(moment)


def _date(text: str, now: datetime, zone: tzinfo) -> Schedule | None:
    if _DATE.fullmatch(text) is None:
        return None
    day, clock = re.split("[ t]", text.upper().replace("T", " "), maxsplit=1)
    hour, colon, rest = clock.replace(" ", "").partition(":")
    try:
        written = datetime.fromisoformat(f"{day}T{hour:0>2}{colon}{rest}")
    except ValueError:
        raise ValueError(f"{text!r}: there is no such day or time") from None
    if written.year < 1970 or written.year > 9000:
        raise ValueError(f"{text!r} is too far away")
    return Once(written.astimezone(UTC) if written.tzinfo else moment_of(written, zone))


_READERS: tuple[Callable[[str, datetime, tzinfo], Schedule | None], ...] = (
    _alias,
    _in,
    _every,
    _every_day,
    _day_at,
    _date,
    _cron,
)


def _span(text: str) -> timedelta:
    pieces = re.findall(r"(\d+)\s*([a-z])", text)
    seconds = sum(int(number) * _UNITS[unit] for number, unit in pieces)
    if seconds > _MOST_SECONDS:
        raise ValueError(f"{text!r} is too long: at most fifty years")
    if not seconds:
        raise ValueError(f"{text!r} is no time at all; name a longer one")
    return timedelta(seconds=seconds)


def _time(match: re.Match[str]) -> time:
    hour, minute, half = int(match["hour"]), int(match["minute"] or 0), match["half"]
    if half and not 1 <= hour <= 12:
        raise ValueError(f"there is no {hour} {half}; write the time like 9:00 or 9 am")
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    if hour > 23 or minute > 59:
        raise ValueError(f"there is no time {match['hour']}:{minute:02}; write it like 9:00 or 17:30")
    return time(hour, minute)


def _weekday(day: str) -> int:
    return next(index for index, name in enumerate(_DAYS) if name.startswith(day))
