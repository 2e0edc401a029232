"""Schedules and times in words, for cards and lists."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

from echo_bot.scheduler.cron_words import cron_words
from echo_bot.scheduler.schedule import Cron, Every, Once, Schedule, in_words, upcoming
from echo_bot.text.language import N_, Say, english, is_english, listed

_UNITS = (
    (86400, N_("day"), N_("days"), N_("every day")),
    (3600, N_("hour"), N_("hours"), N_("every hour")),
    (60, N_("minute"), N_("minutes"), N_("every minute")),
    (1, N_("second"), N_("seconds"), N_("every second")),
)
"""Seconds, one, several, and each of them."""

_WEEKDAYS = (N_("Mon"), N_("Tue"), N_("Wed"), N_("Thu"), N_("Fri"), N_("Sat"), N_("Sun"))


def schedule_words(schedule: Schedule, zone: tzinfo, say: Say = english) -> str:
    """When a job runs, as a phrase: 'at 08:00 on Monday', 'every 15 minutes', 'once, Tue …'."""
    match schedule:
        case Cron(expression):
            return in_words(expression) if is_english(say) else cron_words(expression, say)
        case Every(interval):
            return _every(interval, say)
        case Once(at):
            return say(N_("once, {moment}")).format(moment=moment_words(at, zone, say))


def next_words(schedule: Schedule, at: datetime, zone: tzinfo, say: Say = english, *, count: int = 3) -> str:
    """The next runs on the wall clock of `zone`; "never" without any."""
    moments = upcoming(schedule, at, zone, count)
    return listed((moment_words(each, zone, say) for each in moments), say) or say(N_("never"))


def moment_words(at: datetime, zone: tzinfo, say: Say = english) -> str:
    there = at.astimezone(zone)
    day = say(_WEEKDAYS[there.weekday()])
    return f"{day} {there:%Y-%m-%d %H:%M %Z}".strip()


def _every(span: timedelta, say: Say) -> str:
    """'every 2 hours 30 minutes'; a lone unit without its number: 'every hour'."""
    left = int(span.total_seconds())
    parts, lone = [], ""
    for seconds, one, several, each in _UNITS:
        count, left = divmod(left, seconds)
        if count:
            parts.append(f"{count} {say(one if count == 1 else several)}")
            lone = each if count == 1 else ""
    if len(parts) == 1 and lone:
        return say(lone)
    return say(N_("every {span}")).format(span=" ".join(parts))
