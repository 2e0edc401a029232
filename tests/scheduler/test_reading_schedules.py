"""What people and models write as a schedule, and what they are told when it is none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from echo_bot.scheduler.reading import FORMS, LONGEST, read_schedule
from echo_bot.scheduler.schedule import Cron, Every, Once, next_after
from echo_bot.scheduler.words import next_words, schedule_words
from echo_bot.scheduler.zones import default_zone, zone_of

BERLIN = ZoneInfo("Europe/Berlin")
MONDAY = datetime(2026, 11, 30, 10, 15, 20, 500, tzinfo=UTC)
"""A Monday, 11:15:20 in Berlin."""


def once(text: str) -> Once:
    """Berlin's wall clock as a moment."""
    return Once(datetime.fromisoformat(text).replace(tzinfo=BERLIN).astimezone(UTC))


def in_minutes(minutes: int) -> Once:
    return Once(MONDAY.replace(microsecond=0) + timedelta(minutes=minutes))


def every(**span: int) -> Every:
    return Every(timedelta(**span), MONDAY.replace(microsecond=0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 8 * * 1-5", Cron("0 8 * * 1-5")),
        ("0 9 * * mon#1", Cron("0 9 * * MON#1")),
        ("  5   4 * * sun ", Cron("5 4 * * SUN")),
        ("59 23 L * *", Cron("59 23 L * *")),
        ("@hourly", Cron("0 * * * *")),
        ("@DAILY", Cron("0 0 * * *")),
        ("@midnight", Cron("0 0 * * *")),
        ("@weekly", Cron("0 0 * * 0")),
        ("@monthly", Cron("0 0 1 * *")),
        ("@yearly", Cron("0 0 1 1 *")),
        ("every 15 minutes", every(minutes=15)),
        ("every 2h", every(hours=2)),
        ("Every 1 hour and 30 minutes", every(minutes=90)),
        ("every hour", every(hours=1)),
        ("every day at 8:00", Cron("0 8 * * *")),
        ("daily at 8 pm", Cron("0 20 * * *")),
        ("every monday at 9:30", Cron("30 9 * * 1")),
        ("every sunday 9", Cron("0 9 * * 7")),
        ("every weekday at 9:00", Cron("0 9 * * 1-5")),
        ("in 20 minutes", in_minutes(20)),
        ("in 1h30m", in_minutes(90)),
        ("in 2 days", in_minutes(2 * 24 * 60)),
        ("today 17:30", once("2026-11-30T17:30")),
        ("tomorrow 9:00", once("2026-12-01T09:00")),
        ("tomorrow at 9am", once("2026-12-01T09:00")),
        ("tomorrow at 12 am", once("2026-12-01T00:00")),
        ("monday 8:00", once("2026-12-07T08:00")),
        ("monday 23:00", once("2026-11-30T23:00")),
        ("next monday 23:00", once("2026-12-07T23:00")),
        ("on wed at 8:00", once("2026-12-02T08:00")),
        ("at 9:00", once("2026-12-01T09:00")),
        ("2026-12-24 18:00", once("2026-12-24T18:00")),
        ("2026-12-24T18:00+01:00", Once(datetime(2026, 12, 24, 17, tzinfo=UTC))),
        ("2026-12-24T18:00:30Z", Once(datetime(2026, 12, 24, 18, 0, 30, tzinfo=UTC))),
        ("2027-03-28 02:30", Once(datetime(2027, 3, 28, 1, tzinfo=UTC))),
        ("20分钟后", in_minutes(20)),
        ("二十五分钟后", in_minutes(25)),
        ("半小时后", in_minutes(30)),
        ("一小时三十分钟后", in_minutes(90)),
        ("两小时之后", in_minutes(120)),
        ("明天9点", once("2026-12-01T09:00")),
        ("明天下午三点半", once("2026-12-01T15:30")),
        ("后天 9:05", once("2026-12-02T09:05")),
        ("今晚8点", once("2026-11-30T20:00")),
        ("下周一9点", once("2026-12-07T09:00")),
        ("每天8点", Cron("0 8 * * *")),
        ("每周一早上8点半", Cron("30 8 * * 1")),
        ("每个工作日9点", Cron("0 9 * * 1-5")),
        ("每15分钟", every(minutes=15)),
        ("每小时", every(hours=1)),
    ],
)
def test_a_schedule_is_read(text: str, expected: object) -> None:
    assert read_schedule(text, MONDAY, BERLIN) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("whenever you like", FORMS),
        ("", FORMS),
        ("17:30", FORMS),
        ("下午3点", FORMS),
        ("61 * * * *", FORMS),
        ("@reboot", "not supported"),
        ("* * * * * *", "leave out the seconds"),
        ("every 30 seconds", "at most once a minute"),
        ("in 0 minutes", "no time at all"),
        ("in 999999999 weeks", "at most fifty years"),
        ("today 9:00", "in the past: it was at 2026-11-30 09:00 CET"),
        ("2020-01-01 10:00", "in the past"),
        ("2026-02-30 18:00", "no such day or time"),
        ("tomorrow 25:00", "there is no time 25:00"),
        ("tomorrow 13 pm", "there is no 13 pm"),
        ("9999-12-31 23:59", "too far away"),
        ("0 0 30 2 *", "never comes"),
        ("0 0 31 4,6 *", "never comes"),
        ("x" * (LONGEST + 1), f"at most {LONGEST} characters"),
    ],
)
def test_what_is_no_schedule_is_told_so(text: str, told: str) -> None:
    with pytest.raises(ValueError) as refused:
        read_schedule(text, MONDAY, BERLIN)
    assert told in str(refused.value)


TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(st.text("0123456789*/-,#LW", min_size=1, max_size=6), min_size=5, max_size=5).map(" ".join),
    st.lists(
        st.sampled_from(
            ["in", "every", "at", "monday", "tomorrow", "9", ":", "30", "pm", "h", "m", "每", "天"]
        ),
        max_size=7,
    ).map(" ".join),
)


@given(text=TEXTS)
@settings(max_examples=400, deadline=None)
def test_any_text_is_a_schedule_that_comes_or_a_sentence(text: str) -> None:
    try:
        schedule = read_schedule(text, MONDAY, BERLIN)
    except ValueError:
        return
    assert read_schedule(text, MONDAY, BERLIN) == schedule
    following = next_after(schedule, MONDAY, BERLIN)
    assert following is not None
    assert following > MONDAY
    assert schedule_words(schedule, BERLIN)


@pytest.mark.parametrize(
    ("text", "words", "following"),
    [
        (
            "0 8 * * 1-5",
            "at 08:00 on Monday through Friday",
            "Tue 2026-12-01 08:00 CET, Wed 2026-12-02 08:00 CET, Thu 2026-12-03 08:00 CET",
        ),
        (
            "every 90 minutes",
            "every 1 hour 30 minutes",
            "Mon 2026-11-30 12:45 CET, Mon 2026-11-30 14:15 CET, Mon 2026-11-30 15:45 CET",
        ),
        ("every 1h", "every hour", None),
        ("tomorrow 9:00", "once, Tue 2026-12-01 09:00 CET", "Tue 2026-12-01 09:00 CET"),
    ],
)
def test_a_schedule_in_words(text: str, words: str, following: str | None) -> None:
    schedule = read_schedule(text, MONDAY, BERLIN)
    assert schedule_words(schedule, BERLIN) == words
    assert following is None or next_words(schedule, MONDAY, BERLIN) == following


def test_a_zone_that_is_none_is_told_so() -> None:
    assert zone_of("Asia/Shanghai").key == "Asia/Shanghai"
    for name in ("Mars/Olympus", "../etc/passwd", "", "/etc/localtime"):
        with pytest.raises(ValueError, match="no time zone"):
            zone_of(name)


def test_the_zone_of_a_job_has_a_name_so_that_it_outlasts_the_change_of_clocks() -> None:
    assert default_zone("Europe/Berlin", {"TZ": "Asia/Tokyo"}) == "Europe/Berlin"
    assert default_zone("", {"TZ": "Asia/Tokyo"}) == "Asia/Tokyo"
    assert default_zone("", {"TZ": "EST5EDT4,M3.2.0,M11.1.0"}) in ("UTC", default_zone("", {}))
