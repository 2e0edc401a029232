"""Whose clock is right: Telegram's, as its answers tell it."""

from __future__ import annotations

import time

import pytest

from channels.telegram.adapter import TelegramChannel
from channels.telegram.standing import Rhythm
from echo_bot.channel import ChannelSettings
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.telegram import TelegramEmulator


@pytest.mark.parametrize("ahead", [-7200, 7200, 30 * 86400], ids=["behind", "ahead", "a month ahead"])
async def test_the_age_of_a_message_does_not_depend_on_this_machines_clock(
    quick: Rhythm, port: FakePort, ahead: int
) -> None:
    async with TelegramEmulator(clock=lambda: time.time() - ahead) as telegram:
        chat = telegram.user(42, "Ada").chat()
        telegram.world.clock = lambda: time.time() - ahead - 7200
        chat.say("two hours ago")
        telegram.world.clock = lambda: time.time() - ahead
        chat.say("just now")
        settings = ChannelSettings("", api_base=telegram.url, secrets={"token": telegram.token})
        channel = TelegramChannel(settings, quick)
        await channel.start(port)
        await port.wait_for_event("just now")
        ages = [time.time() - event.timestamp.timestamp() for event in port.stored]
        await channel.stop()
    assert ages == pytest.approx([7200, 0], abs=15)
