"""Telegram keeps the channel contract: the real SDK over the emulator."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from channels.telegram.adapter import TelegramChannel
from channels.telegram.standing import Rhythm
from echo_bot.channel import ChannelSettings
from echo_bot.events import Address
from echo_bot.testing.channel_contract import ChannelContract, Stage
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.telegram import Conversation, TelegramEmulator


@dataclass
class TelegramStage:
    channel: TelegramChannel
    port: FakePort
    address: Address
    chat: Conversation

    async def say(self, text: str) -> None:
        self.chat.say(text)

    async def press(self, label: str) -> str:
        return (await self.chat.press(label).answer()).text

    def shown(self) -> list[str]:
        return [message.text for message in self.chat.from_bot if not message.media]

    def labels(self) -> list[str]:
        return [label for message in self.chat.from_bot for row in message.labels for label in row]

    def file_names(self) -> list[str]:
        documents = [message.media.get("document") for message in self.chat.from_bot]
        return [str(document["file_name"]) for document in documents if isinstance(document, dict)]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with TelegramEmulator() as emulator:
        settings = ChannelSettings(account="", api_base=emulator.url, secrets={"token": emulator.token})
        channel, port = TelegramChannel(settings, Rhythm(poll=5, first_retry=0.05)), FakePort()
        chat = emulator.user(42, "Ada").chat()
        await channel.start(port)
        yield TelegramStage(channel, port, Address("telegram", "42"), chat)
        await channel.stop()


class TestTelegram(ChannelContract):
    """The contract, over Telegram."""
