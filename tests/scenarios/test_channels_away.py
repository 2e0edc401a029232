"""Replies to a channel that did not start yet, or whose platform is down, wait for it as long as it takes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from echo_bot.channel import ChannelHealth, ChannelState
from echo_bot.delivery import outbox
from echo_bot.errors import TemporaryFailure
from echo_bot.events import Address, MessageRef, OutboundText
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FakeChannel
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
CHAT = Address("telegram", "1")


class Away(FakeChannel):
    """Takes nothing before it is connected, and says itself that it is in another state."""

    def __init__(self, state: ChannelState) -> None:
        super().__init__("telegram")
        self.state, self.asked = state, 0

    def health(self) -> ChannelHealth:
        return replace(super().health(), state=self.state)

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef:
        self.asked += 1
        if self.state is not ChannelState.CONNECTED:
            raise TemporaryFailure("away")
        return await super().send_text(address, message)


@pytest.mark.parametrize("state", [ChannelState.RETRYING, ChannelState.STOPPED])
async def test_waiting_for_a_channel_that_is_away_uses_up_no_try(
    tmp_path: Path, local: Config, monkeypatch: pytest.MonkeyPatch, state: ChannelState
) -> None:
    monkeypatch.setattr(outbox, "_NOT_RUNNING_RETRY_SECONDS", 0.01)
    channel = Away(state)
    async with running_bot(tmp_path, local | {"delivery.max_tries": 2}, channel=channel) as bot:
        await bot.parts.delivery.send(CHAT, "patience", source="s")
        waited: set[object] = set()
        while len(waited) < 4:
            waited |= {(row.next_try_at, row.tries) for row in await bot.store.outbox.list("queued", 1)}
            assert await bot.store.outbox.list("dead", 1) == ()
            await asyncio.sleep(0.005)
        assert bool(channel.asked) is (state is ChannelState.RETRYING)
        channel.state = ChannelState.CONNECTED
        await eventually(lambda: channel.texts == ["patience"], "the message")
