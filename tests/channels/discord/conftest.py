"""The emulator, the real SDK on it, and a port that keeps what it gets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from channels.discord.adapter import DiscordChannel
from channels.discord.connection import Rhythm
from echo_bot.channel import ChannelSettings, ChannelState
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.discord import Conversation, DiscordEmulator, Person, Shown
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.waiting import PATIENCE_SECONDS, eventually

QUICK = Rhythm(
    start=PATIENCE_SECONDS,
    first_retry=0.02,
    longest_retry=0.1,
    call=PATIENCE_SECONDS,
    watch=0.05,
    guild_ready=0.05,
    ready=PATIENCE_SECONDS,
    close=0.5,
    modal=PATIENCE_SECONDS,
)
"""Pauses are short; for what a test is about to see, the bot waits as long as the test."""


@pytest.fixture
async def discord() -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator(first_answer_seconds=PATIENCE_SECONDS) as emulator:
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
def rhythm(request: pytest.FixtureRequest) -> Rhythm:
    """A test whose time is to run out says so: `parametrize("rhythm", [{"call": 1.0}], indirect=True)`."""
    return replace(QUICK, **getattr(request, "param", {}))


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


@dataclass
class Scene:
    bot: RunningBot
    channel: DiscordChannel


Opening = Callable[..., AbstractAsyncContextManager[Scene]]


@pytest.fixture
def opened(tmp_path: Path, settings: ChannelSettings, rhythm: Rhythm, ada: Person) -> Opening:
    """Starts a bot in which Ada may do everything; once more is a restart."""

    @asynccontextmanager
    async def open_scene(**more: object) -> AsyncIterator[Scene]:
        channel = DiscordChannel(settings, rhythm)
        config = {
            "tools.exec.host": "local",
            "channels.discord.allow_from": [ada.id],
            "channels.discord.api_base": settings.api_base,
            "permissions.admin_users": [f"discord:{ada.id}"],
            **{key.replace("__", "."): value for key, value in more.items()},
        }
        async with running_bot(tmp_path, config, channels=[channel]) as bot:
            await eventually(lambda: channel.health().state is ChannelState.CONNECTED, "a connection")
            yield Scene(bot, channel)

    return open_scene


@pytest.fixture
def decided() -> Callable[[Conversation], Callable[[], Shown | None]]:
    """Looks for the newest message of a chat that stood as a card and has no buttons any more."""

    def is_decided(one: Shown) -> bool:
        return "(discord:" in one.text and " by " in one.text and not one.labels

    return lambda chat: lambda: next(filter(is_decided, chat.from_bot), None)
