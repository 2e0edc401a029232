"""Schedules and times in words, for cards and lists."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

from echo_bot.scheduler.schedule import Cron, Every, Once, Schedule, in_words, upcoming

_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))


def schedule_words(schedule: Schedule, zone: tzinfo) -> str:
    """When a job runs, as a phrase: 'at 08:00 on Monday', 'every 15 minutes', 'once, Tue …'."""
    match schedule:
        case Cron(expression):
            return in_words(expression)
        case Every(interval):
            return f"every {span_words(interval)}"
        case Once(at):
            return f"once, {moment_words(at, zone)}"


def next_words(schedule: Schedule, at: datetime, zone: tzinfo, count: int = 3) -> str:
    """The next runs on the wall clock of `zone`; "never" without any."""
    return ", ".join(moment_words(each, zone) for each in upcoming(schedule, at, zone, count)) or "never"


def moment_words(at: datetime, zone: tzinfo) -> str:
    return at.astimezone(zone).strftime("%a %Y-%m-%d %H:%M %Z").strip()


def span_words(span: timedelta) -> str:
    """'2 hours 30 minutes'; a lone unit without its number: 'hour'."""
    left = int(span.total_seconds())
    parts = []
    for unit, seconds in _UNITS:
        count, left = divmod(left, seconds)
        if count:
            parts.append((count, unit if count == 1 else f"{unit}s"))
    if len(parts) == 1 and parts[0][0] == 1:
        return parts[0][1]
    return " ".join(f"{count} {unit}" for count, unit in parts)
