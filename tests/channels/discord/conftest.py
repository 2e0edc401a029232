"""The emulator, the real SDK on it, and a port that keeps what it gets."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from channels.discord.adapter import DiscordChannel
from channels.discord.connection import Rhythm
from echo_bot.channel import ChannelSettings
from echo_bot.testing.discord import Conversation, DiscordEmulator, Person
from echo_bot.testing.fake_port import FakePort

QUICK = Rhythm(
    start=5.0,
    first_retry=0.02,
    longest_retry=0.1,
    call=2.0,
    watch=0.05,
    rebuild=0.5,
    guild_ready=0.05,
    ready=1.0,
    close=0.5,
    modal=0.5,
)


@pytest.fixture
async def discord() -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator() as emulator:
        yield emulator


@pytest.fixture
def settings(discord: DiscordEmulator) -> ChannelSettings:
    return ChannelSettings(
        account="",
        api_base=discord.api_base,
        options={"gateway_url": discord.gateway_url},
        secrets={"token": discord.token},
    )


@pytest.fixture
def port() -> FakePort:
    return FakePort()


@pytest.fixture
def rhythm() -> Rhythm:
    return QUICK


@pytest.fixture
async def channel(settings: ChannelSettings, rhythm: Rhythm, port: FakePort) -> AsyncIterator[DiscordChannel]:
    """Started, and stopped after the test."""
    running = DiscordChannel(settings, rhythm)
    await running.start(port)
    yield running
    await running.stop()


@pytest.fixture
def ada(discord: DiscordEmulator) -> Person:
    return discord.user("Ada")


@pytest.fixture
def chat(ada: Person) -> Conversation:
    return ada.dm()
