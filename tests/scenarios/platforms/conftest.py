"""The real adapter of each platform."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import channels.discord.connection
import channels.slack.line
import channels.telegram.standing
from channels.discord.adapter import DiscordChannel
from channels.slack.adapter import SlackChannel
from channels.telegram.adapter import TelegramChannel
from echo_bot.channel import Channel, ChannelSettings


@pytest.fixture
def channel_of() -> Callable[[str, ChannelSettings], Channel]:
    """The real adapter of a platform, with short pauses after a failure."""
    return _channel_of


def _channel_of(platform: str, settings: ChannelSettings) -> Channel:
    match platform:
        case "telegram":
            rhythm = channels.telegram.standing.Rhythm(poll=1, hold=0.02, first_retry=0.02, longest_retry=0.1)
            return TelegramChannel(settings, rhythm)
        case "discord":
            return DiscordChannel(
                settings,
                channels.discord.connection.Rhythm(
                    first_retry=0.02, longest_retry=0.1, watch=0.05, guild_ready=0.05, ready=1.0
                ),
            )
        case _:
            return SlackChannel(
                settings,
                channels.slack.line.Rhythm(look=0.02, first_retry=0.02, longest_retry=0.1, steady=0.0),
            )
