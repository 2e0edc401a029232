"""The emulator, the real SDK on it, and a port that keeps what it gets."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from channels.slack.adapter import SlackChannel
from channels.slack.line import Rhythm
from echo_bot.channel import ChannelSettings
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.slack import Conversation, Person, SlackEmulator

QUICK = Rhythm(look=0.02, ping=0.2, first_retry=0.02, longest_retry=0.1, fatal_retry=0.1, steady=0.0)


@pytest.fixture
async def slack() -> AsyncIterator[SlackEmulator]:
    async with SlackEmulator() as emulator:
        yield emulator


@pytest.fixture
def quick() -> Rhythm:
    return QUICK


@pytest.fixture
def settings(slack: SlackEmulator) -> ChannelSettings:
    secrets = {"bot_token": slack.bot_token, "app_token": slack.app_token}
    return ChannelSettings(account="", api_base=slack.url, options={"mode": "socket"}, secrets=secrets)


@pytest.fixture
def port() -> FakePort:
    return FakePort()


@pytest.fixture
async def channel(settings: ChannelSettings, port: FakePort) -> AsyncIterator[SlackChannel]:
    """Started, and stopped after the test."""
    running = SlackChannel(settings, QUICK)
    await running.start(port)
    yield running
    await running.stop()


@pytest.fixture
def ada(slack: SlackEmulator) -> Person:
    """Somebody who has talked to the bot before, so that their direct chat exists."""
    person = slack.user("U1", "Ada")
    person.dm()
    return person


@pytest.fixture
def dm(ada: Person) -> Conversation:
    return ada.dm()
