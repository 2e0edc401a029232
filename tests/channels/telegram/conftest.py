"""The emulator, the real SDK on it, and a port that keeps what it gets."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from channels.telegram.adapter import TelegramChannel
from channels.telegram.standing import Rhythm
from echo_bot.channel import ChannelSettings
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.telegram import Conversation, TelegramEmulator

QUICK = Rhythm(
    poll=1,
    hold=0.02,
    album_quiet=0.08,
    album_quiet_webhook=0.05,
    webhook_check=0.1,
    first_retry=0.02,
    longest_retry=0.1,
    first_fatal_retry=0.05,
    fatal_retry=0.1,
)


@pytest.fixture
def quick() -> Rhythm:
    return QUICK


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        yield emulator


@pytest.fixture
def settings(telegram: TelegramEmulator) -> ChannelSettings:
    return ChannelSettings(account="", api_base=telegram.url, secrets={"token": telegram.token})


@pytest.fixture
def port() -> FakePort:
    return FakePort()


@pytest.fixture
async def channel(settings: ChannelSettings, port: FakePort) -> AsyncIterator[TelegramChannel]:
    """Started, and stopped after the test."""
    running = TelegramChannel(settings, QUICK)
    await running.start(port)
    yield running
    await running.stop()


@pytest.fixture
def chat(telegram: TelegramEmulator) -> Conversation:
    return telegram.user(42, "Ada", "ada").chat()
