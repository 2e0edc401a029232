"""When schedules come, over every way in which clocks are changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import example, given, settings
from hypothesis import strategies as st

from echo_bot.scheduler.schedule import Cron, Every, Once, moment_of, next_after, upcoming

ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Asia/Kathmandu",
    "America/Havana",
    "Africa/Casablanca",
)
EXPRESSIONS = (
    "* * * * *",
    "*/15 * * * *",
    "*/15 5 * * *",
    "30 2 * * *",
    "0,30 2 * * *",
    "0 0 * * *",
    "15 1,2,3 * * *",
    "30 * * * *",
    "0 9 * * 1-5",
    "0 12 29 2 *",
    "0 8 1 * MON",
    "59 23 L * *",
)


def local(text: str, zone: str, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold)


def runs(expression: str, start: datetime, count: int) -> list[str]:
    zone = start.tzinfo
    assert zone is not None
    return [
        each.astimezone(zone).strftime("%d %H:%M%z")
        for each in upcoming(Cron(expression), start, zone, count)
    ]


@pytest.mark.parametrize(
    ("expression", "start", "zone", "expected"),
    [
        # Berlin, 29 March 2026: 02:00 becomes 03:00. 25 October 2026: 03:00 becomes 02:00.
        pytest.param(
            "30 2 * * *",
            "2026-03-28T12:00",
            "Europe/Berlin",
            ["29 03:00+0200", "30 02:30+0200"],
            id="a time that is left out comes at the first moment after",
        ),
        pytest.param(
            "0,30 2 * * *",
            "2026-03-28T12:00",
            "Europe/Berlin",
            ["29 03:00+0200", "30 02:00+0200", "30 02:30+0200"],
            id="two times that are left out come together, once",
        ),
        pytest.param(
            "30 2 * * *",
            "2026-10-24T12:00",
            "Europe/Berlin",
            ["25 02:30+0200", "26 02:30+0100"],
            id="a time that is there twice comes once, the first time",
        ),
        pytest.param(
            "*/30 2 * * *",
            "2026-10-24T12:00",
            "Europe/Berlin",
            ["25 02:00+0200", "25 02:30+0200", "25 02:00+0100", "25 02:30+0100", "26 02:00+0100"],
            id="a wildcard comes whenever the clock shows it, also twice",
        ),
        pytest.param(
            "*/30 2 * * *",
            "2026-03-28T12:00",
            "Europe/Berlin",
            ["30 02:00+0200", "30 02:30+0200"],
            id="a wildcard does not come in an hour that is left out",
        ),
        pytest.param(
            "30 * * * *",
            "2026-03-29T00:45",
            "Europe/Berlin",
            ["29 01:30+0100", "29 03:30+0200"],
            id="every hour at half past, over the gap",
        ),
        # New York, 8 March and 1 November 2026.
        pytest.param(
            "30 2 * * *",
            "2026-03-07T12:00",
            "America/New_York",
            ["08 03:00-0400", "09 02:30-0400"],
            id="New York's gap",
        ),
        pytest.param(
            "30 1 * * *",
            "2026-10-31T12:00",
            "America/New_York",
            ["01 01:30-0400", "02 01:30-0500"],
            id="New York's repeated hour",
        ),
        # Lord Howe moves by half an hour: on 4 October 02:00 becomes 02:30, on 5 April 01:30.
        pytest.param(
            "15 2 * * *",
            "2026-10-03T12:00",
            "Australia/Lord_Howe",
            ["04 02:30+1100", "05 02:15+1100"],
            id="Lord Howe's half-hour gap",
        ),
        pytest.param(
            "45 1 * * *",
            "2026-04-04T12:00",
            "Australia/Lord_Howe",
            ["05 01:45+1100", "06 01:45+1030"],
            id="Lord Howe's repeated half hour",
        ),
        pytest.param(
            "*/15 5 * * *",
            "2026-10-03T12:00",
            "Australia/Lord_Howe",
            ["04 05:00+1100", "04 05:15+1100", "04 05:30+1100", "04 05:45+1100", "05 05:00+1100"],
            id="after a half-hour gap the whole hour comes",
        ),
        pytest.param(
            "*/15 5 * * *",
            "2026-04-04T12:00",
            "Australia/Lord_Howe",
            ["05 05:00+1030", "05 05:15+1030", "05 05:30+1030", "05 05:45+1030", "06 05:00+1030"],
            id="after a repeated half hour the whole hour comes",
        ),
        # Samoa left out 30 December 2011.
        pytest.param(
            "0 12 * * *",
            "2011-12-29T13:00",
            "Pacific/Apia",
            ["31 00:00+1400", "31 12:00+1400", "01 12:00+1400"],
            id="what was due on Samoa's missing day comes as the next one begins",
        ),
        pytest.param(
            "*/30 12 * * *",
            "2011-12-29T13:00",
            "Pacific/Apia",
            ["31 12:00+1400", "31 12:30+1400"],
            id="a wildcard has nothing on a missing day",
        ),
        pytest.param(
            "0 8 * * *",
            "2026-05-01T07:59",
            "Asia/Kathmandu",
            ["01 08:00+0545", "02 08:00+0545"],
            id="an offset of quarters of an hour",
        ),
        pytest.param(
            "0 0 29 2 *",
            "2026-01-01T00:00",
            "UTC",
            ["29 00:00+0000", "29 00:00+0000"],
            id="a leap day",
        ),
    ],
)
def test_cron_over_changes_of_the_clock(expression: str, start: str, zone: str, expected: list[str]) -> None:
    assert runs(expression, local(start, zone), len(expected)) == expected


def test_from_within_the_repeated_hour_a_fixed_time_is_the_next_days() -> None:
    """Its run of the first pass has been."""
    second_pass = local("2026-10-25T02:15", "Europe/Berlin", fold=1)
    assert runs("30 2 * * *", second_pass, 1) == ["26 02:30+0100"]
    assert runs("30 2 * * *", local("2026-10-25T02:15", "Europe/Berlin"), 1) == ["25 02:30+0200"]


def test_an_interval_does_not_care_for_clocks() -> None:
    anchor = local("2026-03-28T23:10", "Europe/Berlin").astimezone(UTC)
    every = Every(timedelta(hours=2), anchor)
    found = upcoming(every, anchor, ZoneInfo("Europe/Berlin"), 3)
    assert [each - anchor for each in found] == [timedelta(hours=hours) for hours in (2, 4, 6)]
    assert next_after(every, anchor - timedelta(days=1), UTC) == anchor + timedelta(hours=2)


def test_one_moment_comes_once() -> None:
    at = datetime(2026, 5, 1, 12, tzinfo=UTC)
    assert next_after(Once(at), at - timedelta(seconds=1), UTC) == at
    assert next_after(Once(at), at, UTC) is None


def test_a_day_that_is_in_no_calendar_never_comes() -> None:
    assert next_after(Cron("0 0 * 2 MON#5"), datetime(2040, 1, 1, tzinfo=UTC), UTC) == datetime(
        2044, 2, 29, tzinfo=UTC
    )


@pytest.mark.parametrize(
    ("wall", "zone", "expected"),
    [
        ("2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:00"),
        ("2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30"),
        ("2011-12-30T09:00", "Pacific/Apia", "2011-12-30T10:00"),
    ],
)
def test_a_wall_time_is_one_moment(wall: str, zone: str, expected: str) -> None:
    found = moment_of(datetime.fromisoformat(wall), ZoneInfo(zone))
    assert found == datetime.fromisoformat(expected).replace(tzinfo=UTC)


MOMENTS = st.datetimes(datetime(2009, 1, 1), datetime(2031, 1, 1)).map(lambda at: at.replace(tzinfo=UTC))


@given(at=MOMENTS, expression=st.sampled_from(EXPRESSIONS), zone=st.sampled_from(ZONES))
@example(at=datetime(2011, 12, 30, 9, 30, tzinfo=UTC), expression="30 2 * * *", zone="Pacific/Apia")
@settings(max_examples=200, deadline=None)
def test_the_next_run_is_strictly_later_and_none_is_skipped(at: datetime, expression: str, zone: str) -> None:
    """From any moment before the next run, also the last one, the next run is the same."""
    tz, schedule = ZoneInfo(zone), Cron(expression)
    following = next_after(schedule, at, tz)
    assert following is not None
    assert following > at
    assert following == following.replace(second=0, microsecond=0)
    for tenths in (0, 3, 9):
        assert next_after(schedule, at + (following - at) // 10 * tenths, tz) == following
    assert next_after(schedule, following - timedelta(microseconds=1), tz) == following
    after = next_after(schedule, following, tz)
    assert after is not None
    assert after > following


@given(at=MOMENTS, zone=st.sampled_from(ZONES), start=st.sampled_from(["wild", "near a change"]))
@settings(max_examples=60, deadline=None)
def test_a_wildcard_comes_at_every_minute_that_matches_and_no_other(
    at: datetime, zone: str, start: str
) -> None:
    """Told minute by minute over half a day from a change of the clocks, or from anywhere."""
    tz, expression = ZoneInfo(zone), "*/20 * * * *"
    begin = at.replace(second=0, microsecond=0)
    if start == "near a change":
        begin = _last_change(begin, tz) - timedelta(hours=3)
    minutes = [begin + timedelta(minutes=each) for each in range(1, 720)]
    expected = [each for each in minutes if each.astimezone(tz).minute % 20 == 0]
    found = upcoming(Cron(expression), begin, tz, len(expected))
    assert list(found) == expected


@given(at=MOMENTS, expression=st.sampled_from(["30 2 * * *", "0 0 * * *", "15 1,2,3 * * *", "0 9 * * 1-5"]))
@settings(max_examples=100, deadline=None)
def test_fixed_times_are_those_of_the_library(at: datetime, expression: str) -> None:
    """It is exact where clocks move by whole hours; only within a repeated hour it looks back."""
    tz = ZoneInfo("Europe/Berlin")
    library = CronSim(expression, at.astimezone(tz))
    theirs = next(each for each in library if each.astimezone(UTC) > at)
    assert next_after(Cron(expression), at, tz) == theirs.astimezone(UTC)


def _last_change(at: datetime, zone: ZoneInfo) -> datetime:
    offset = at.astimezone(zone).utcoffset()
    for hours in range(1, 24 * 370):
        before = at - timedelta(hours=hours)
        if before.astimezone(zone).utcoffset() != offset:
            return before
    return at
