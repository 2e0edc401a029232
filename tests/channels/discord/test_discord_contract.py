"""Discord keeps the channel contract: the real SDK over the emulator."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from channels.discord.adapter import DiscordChannel
from channels.discord.connection import Rhythm
from echo_bot.channel import ChannelSettings
from echo_bot.events import Address
from echo_bot.testing.channel_contract import ChannelContract, Stage
from echo_bot.testing.discord import Conversation, DiscordEmulator
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.waiting import PATIENCE_SECONDS


@dataclass
class DiscordStage:
    channel: DiscordChannel
    port: FakePort
    address: Address
    chat: Conversation

    async def say(self, text: str) -> None:
        self.chat.say(text)

    async def press(self, label: str) -> str:
        return await self.chat.press(label).answer()

    def shown(self) -> list[str]:
        return [shown.text for shown in self.chat.from_bot if not shown.file_names]

    def labels(self) -> list[str]:
        return [label for shown in self.chat.from_bot for label in shown.labels]

    def file_names(self) -> list[str]:
        return [name for shown in self.chat.from_bot for name in shown.file_names]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with DiscordEmulator(first_answer_seconds=PATIENCE_SECONDS) as emulator:
        settings = ChannelSettings(
            account="",
            api_base=emulator.api_base,
            options={"gateway_url": emulator.gateway_url},
            secrets={"token": emulator.token},
        )
        channel, port = DiscordChannel(settings, Rhythm(first_retry=0.05, guild_ready=0.05)), FakePort()
        chat = emulator.user("Ada").dm()
        await channel.start(port)
        yield DiscordStage(channel, port, Address("discord", chat.id), chat)
        await channel.stop()


class TestDiscord(ChannelContract):
    """The contract, over Discord."""
