"""A channel that is still connecting is said to start, not to have stopped."""

from __future__ import annotations

import asyncio
from pathlib import Path

from echo_bot.channel import ChannelState, Port
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel
from echo_bot.testing.waiting import eventually


class Slow(FakeChannel):
    """Starts once it may."""

    def __init__(self) -> None:
        super().__init__("telegram")
        self.may_start = asyncio.Event()

    async def start(self, port: Port) -> None:
        await self.may_start.wait()
        await super().start(port)


async def test_a_channel_says_that_it_starts_and_that_it_stopped(tmp_path: Path) -> None:
    channel = Slow()
    async with running_bot(tmp_path, channel=channel) as bot:
        assert channel.health().state is ChannelState.STOPPED
        assert bot.parts.channels.health()["telegram"].state is ChannelState.STARTING
        channel.may_start.set()
        await eventually(
            lambda: bot.parts.channels.health()["telegram"].state is ChannelState.CONNECTED, "the start"
        )
        runner = bot.parts.channels
    assert runner.health()["telegram"].state is ChannelState.STOPPED
