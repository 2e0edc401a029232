"""Whose clock is right: Slack's, as its answers tell it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta

import pytest

from channels.slack.adapter import SlackChannel
from channels.slack.line import Rhythm
from echo_bot.channel import ChannelSettings
from echo_bot.channel.clock import PlatformClock
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.slack import SlackEmulator

TOLD = "Thu, 01 Jan 2026 12:00:00 GMT"
NOON = 1767268800.0


class Machine:
    """A machine's clock, and how long it has been running."""

    def __init__(self, clock: float) -> None:
        self.clock, self.running = clock, 500.0

    def passes(self, seconds: float) -> None:
        self.clock += seconds
        self.running += seconds


def clock_of(machine: Machine) -> PlatformClock:
    return PlatformClock(lambda: machine.clock, lambda: machine.running)


@pytest.mark.parametrize(
    ("off", "ahead"),
    [(0, 0), (59, 0), (-59, 0), (7200, 7200), (-7200, -7200)],
    ids=["right", "a slow answer", "a fast one", "ahead", "behind"],
)
def test_a_clock_that_is_off_by_more_than_a_minute_is_known(off: float, ahead: float) -> None:
    machine = Machine(NOON + off)
    clock = clock_of(machine)
    clock.heard(TOLD)
    machine.passes(3600)
    assert clock.ahead == timedelta(seconds=ahead)


def test_a_clock_that_is_set_right_meanwhile_is_right() -> None:
    machine = Machine(NOON + 7200)
    clock = clock_of(machine)
    clock.heard(TOLD)
    machine.clock -= 7200
    assert clock.ahead == timedelta()


def test_what_came_while_this_machine_slept_does_not_count_as_new() -> None:
    machine = Machine(NOON)
    clock = clock_of(machine)
    clock.heard(TOLD)
    machine.clock += 8 * 3600
    assert clock.ahead == timedelta()
    clock.heard("Thu, 01 Jan 2026 18:00:00 GMT")
    assert clock.ahead == timedelta(hours=2)


@pytest.mark.parametrize("date", ["", "soon", "Thu, 99 Jan 2026 12:00:00 GMT"])
def test_what_is_no_date_changes_nothing(date: str) -> None:
    machine = Machine(NOON + 600)
    clock = clock_of(machine)
    clock.heard(date)
    assert clock.ahead == timedelta()
    clock.heard(TOLD)
    machine.passes(600)
    clock.heard(date)
    assert clock.ahead == timedelta(seconds=600)


@pytest.fixture
def far_east(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "XXX-8")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    "date",
    [
        "Thu, 01 Jan 2026 12:00:00 -0000",
        "Thu, 01 Jan 2026 12:00:00",
        "Thu Jan  1 12:00:00 2026",
        "Thursday, 01-Jan-26 12:00:00 GMT",
    ],
)
def test_every_form_of_a_date_is_understood_wherever_the_machine_stands(far_east: None, date: str) -> None:
    clock = clock_of(Machine(NOON + 7200))
    clock.heard(date)
    assert clock.ahead == timedelta(hours=2)


@pytest.mark.parametrize("ahead", [-7200, 7200, 30 * 86400], ids=["behind", "ahead", "a month ahead"])
async def test_the_age_of_a_message_does_not_depend_on_this_machines_clock(
    quick: Rhythm, port: FakePort, ahead: int
) -> None:
    async with SlackEmulator(clock=lambda: time.time() - ahead) as slack:
        secrets = {"bot_token": slack.bot_token, "app_token": slack.app_token}
        settings = ChannelSettings("", api_base=slack.url, options={"mode": "socket"}, secrets=secrets)
        channel = SlackChannel(settings, quick)
        await channel.start(port)
        room = slack.user("U1", "Ada").dm()
        room.say("just now")
        room.say("two hours ago", extra={"ts": f"{time.time() - ahead - 7200:.6f}"})
        await port.wait_for_event("two hours ago")
        ages = [time.time() - event.timestamp.timestamp() for event in port.stored]
        await channel.stop()
    assert ages == pytest.approx([0, 7200], abs=15)
