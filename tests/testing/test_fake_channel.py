"""The fake channel keeps the channel contract, and fails when told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from echo_bot.channel import Channel, ChannelCapabilities
from echo_bot.errors import RetryAfter, TargetGone, TemporaryFailure
from echo_bot.events import Address, Card, MessageRef, OutboundText
from echo_bot.testing.channel_contract import ChannelContract, Stage
from echo_bot.testing.fake_channel import FULL_CAPABILITIES, FakeChannel
from echo_bot.testing.fake_port import FakePort

CHAT = Address("fake", "1")


@dataclass
class FakeStage:
    fake: FakeChannel
    port: FakePort
    address: Address = CHAT

    @property
    def channel(self) -> Channel:
        return self.fake

    async def say(self, text: str) -> None:
        await self.fake.say(text)

    async def press(self, label: str) -> str:
        return (await self.fake.press(label)).text

    def shown(self) -> list[str]:
        return [message.body for message in self.fake.messages if message.file is None]

    def labels(self) -> list[str]:
        return [button.label for message in self.fake.messages for button in message.buttons]

    def file_names(self) -> list[str]:
        return [message.file.name for message in self.fake.messages if message.file is not None]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    port, fake = FakePort(), FakeChannel()
    await fake.start(port)
    yield FakeStage(fake, port)
    await fake.stop()


class TestFakeChannel(ChannelContract):
    """The contract, over the fake."""


async def test_a_fault_is_met_as_often_as_asked_and_then_over() -> None:
    fake = FakeChannel()
    fake.fail("send_text", RetryAfter(1.0), times=2)
    for _ in range(2):
        with pytest.raises(RetryAfter):
            await fake.send_text(CHAT, OutboundText("hello"))
    await fake.send_text(CHAT, OutboundText("hello"))
    assert fake.texts == ["hello"]


async def test_a_fault_after_the_work_loses_only_the_answer() -> None:
    fake = FakeChannel()
    fake.fail("send_text", TemporaryFailure("cut"), after=True)
    with pytest.raises(TemporaryFailure):
        await fake.send_text(CHAT, OutboundText("hello"))
    assert fake.texts == ["hello"]


async def test_a_platform_that_dedups_sends_a_key_once() -> None:
    fake = FakeChannel(capabilities=ChannelCapabilities(max_length=10, dedups_sends=True))
    first = await fake.send_text(CHAT, OutboundText("hello", dedup_key="k"))
    assert await fake.send_text(CHAT, OutboundText("hello", dedup_key="k")) == first
    assert fake.texts == ["hello"]


async def test_text_that_does_not_fit_is_the_core_s_mistake() -> None:
    fake = FakeChannel(capabilities=ChannelCapabilities(max_length=4))
    with pytest.raises(AssertionError, match="the core must split"):
        await fake.send_text(CHAT, OutboundText("hello"))


async def test_editing_what_is_gone_says_so() -> None:
    with pytest.raises(TargetGone):
        await FakeChannel().edit_text(MessageRef(CHAT, "99"), OutboundText("hello"))


async def test_pressing_a_button_that_is_not_there_names_what_is_shown() -> None:
    fake = FakeChannel()
    await fake.send_card(CHAT, Card("c", "A card without buttons", ()))
    with pytest.raises(AssertionError, match="A card without buttons"):
        await fake.press("Approve once")


async def test_the_same_event_again_is_a_redelivery() -> None:
    port, fake = FakePort(), FakeChannel(capabilities=FULL_CAPABILITIES)
    await fake.start(port)
    assert await fake.say("hello", event_id="e-9")
    assert not await fake.say("hello", event_id="e-9")
    assert len(port.stored) == 1
