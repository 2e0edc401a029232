"""Slack keeps the channel contract: the real SDK over the emulator, by socket and by signed requests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from channels.slack.adapter import SlackChannel
from channels.slack.line import Rhythm
from echo_bot.channel import ChannelSettings
from echo_bot.events import Address
from echo_bot.testing.channel_contract import ChannelContract, Stage
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.slack import SIGNING_SECRET, Conversation, SlackEmulator


@dataclass
class SlackStage:
    channel: SlackChannel
    port: FakePort
    address: Address
    chat: Conversation

    async def say(self, text: str) -> None:
        self.chat.say(text)

    async def press(self, label: str) -> str:
        return await self.chat.press(label).answer()

    def shown(self) -> list[str]:
        return [message.words for message in self.chat.from_bot if not message.files]

    def labels(self) -> list[str]:
        return [label for message in self.chat.from_bot for label in message.labels]

    def file_names(self) -> list[str]:
        return [file.name for message in self.chat.from_bot for file in message.files]


@pytest.fixture(params=["socket", "http"])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    async with SlackEmulator() as emulator:
        secrets = {
            "bot_token": emulator.bot_token,
            "app_token": emulator.app_token,
            "signing_secret": SIGNING_SECRET,
        }
        settings = ChannelSettings(
            account="", api_base=emulator.url, options={"mode": request.param}, secrets=secrets
        )
        channel, port = SlackChannel(settings, Rhythm(look=0.02, first_retry=0.05)), FakePort()
        for hook in channel.hooks().values():
            emulator.call(hook)
        await channel.start(port)
        yield SlackStage(channel, port, Address("slack", "D1"), emulator.user("U1", "Ada").dm())
        await channel.stop()


class TestSlack(ChannelContract):
    """The contract, over Slack."""
