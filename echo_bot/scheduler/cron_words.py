"""A cron expression in the words of a language other than English, whose words the library has."""

from __future__ import annotations

from collections.abc import Callable

from echo_bot.text.language import N_, Say, listed

_WEEKDAYS = (
    N_("Sunday"),
    N_("Monday"),
    N_("Tuesday"),
    N_("Wednesday"),
    N_("Thursday"),
    N_("Friday"),
    N_("Saturday"),
)
_NAMES = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


def cron_words(expression: str, say: Say) -> str:
    """The plain ones as a phrase, such as every day at one time; any other as it is written."""
    minute, hour, day, month, weekday = expression.split()
    if month == "*" and day == "*" and weekday == "*" and hour == "*":
        return _within_hours(minute, say) or _as_written(expression, say)
    if month != "*" or not (minute.isdecimal() and hour.isdecimal()):
        return _as_written(expression, say)
    at = f"{int(hour):02}:{int(minute):02}"
    if day == "*" and weekday == "*":
        return say(N_("at {time} every day")).format(time=at)
    if day == "*":
        days = _list(weekday, lambda each: _weekday(each, say))
        if days:
            return say(N_("at {time} on {weekdays}")).format(time=at, weekdays=listed(days, say))
    elif weekday == "*" and (days := _list(day, lambda each: each if each.isdecimal() else "")):
        return say(N_("at {time} on day {days} of every month")).format(time=at, days=listed(days, say))
    return _as_written(expression, say)


def _within_hours(minute: str, say: Say) -> str:
    if minute in ("*", "*/1"):
        return say(N_("every minute"))
    if minute.startswith("*/") and minute[2:].isdecimal() and 60 % int(minute[2:]) == 0:
        minutes = say(N_("minutes"))
        return say(N_("every {span}")).format(span=f"{minute[2:]} {minutes}")
    return say(N_("at minute {minute} of every hour")).format(minute=minute) if minute.isdecimal() else ""


def _list(field: str, word: Callable[[str], str]) -> list[str]:
    """The words of a field's parts, "a-b" as "a – b"; empty when one of them is no plain value."""
    found = []
    for part in field.split(","):
        ends = [word(each) for each in part.split("-")]
        if len(ends) > 2 or not all(ends):
            return []
        found.append(" – ".join(ends))
    return found


def _weekday(value: str, say: Say) -> str:
    if value.upper() in _NAMES:
        return say(_WEEKDAYS[_NAMES.index(value.upper())])
    return say(_WEEKDAYS[int(value) % 7]) if value.isdecimal() and int(value) <= 7 else ""


def _as_written(expression: str, say: Say) -> str:
    return say(N_("by the cron expression {expression}")).format(expression=expression)
