"""Many chats at once, in trouble: every message is answered once, and in its chat's order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from echo_bot.channel import Channel, ChannelSettings, ChannelState
from echo_bot.testing.bot import running_bot
from echo_bot.testing.crowd import CROWDS, Crowd, Tally
from echo_bot.testing.scripted_model import echo_model
from echo_bot.testing.waiting import eventually

CHATS, MESSAGES, MESSAGES_PER_TROUBLE = 6, 60, 5


@pytest.mark.parametrize("platform", CROWDS)
async def test_nothing_is_lost_doubled_or_out_of_order(
    platform: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    channel_of: Callable[[str, ChannelSettings], Channel],
) -> None:
    crowd: Crowd
    async with CROWDS[platform](CHATS) as crowd:
        channel = channel_of(platform, crowd.settings)
        config = {f"channels.{platform}.allow_from": list(crowd.people), "channels.stream.enabled": False}
        async with running_bot(tmp_path, config, model=echo_model(), channels=[channel]):
            await eventually(lambda: channel.health().state is ChannelState.CONNECTED, "a connection")
            for number in range(MESSAGES):
                crowd.say(number % CHATS, f"message {number}")
                if number % MESSAGES_PER_TROUBLE == 0:
                    crowd.trouble()
                    await crowd.answered(number // 2 - CHATS)
            await crowd.settled(quiet=0.1)
        assert crowd.tally() == Tally()
    assert [record.message for record in caplog.records if record.exc_info] == []
