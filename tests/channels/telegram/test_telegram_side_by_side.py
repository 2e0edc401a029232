"""Chats do not wait for each other; each keeps its order; nothing is confirmed before it is stored."""

from __future__ import annotations

import asyncio

from channels.telegram.adapter import TelegramChannel
from channels.telegram.standing import Rhythm
from echo_bot.channel import ChannelSettings
from echo_bot.events import Address, Button, ButtonPress, Card, InboundEvent, Paragraph, PressReply
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.telegram import TelegramEmulator
from echo_bot.testing.waiting import eventually

CARD = Card("c1", "exec", (Paragraph("ls"),), (Button("Approve once", "t-once"),))


class SlowPort(FakePort):
    """Takes nothing from the senders in `slow` until `released`."""

    def __init__(self, *slow: str) -> None:
        super().__init__()
        self.slow, self.released = frozenset(slow), asyncio.Event()

    async def receive(self, event: InboundEvent) -> bool:
        await self._wait(event.sender_id)
        return await super().receive(event)

    async def press(self, press: ButtonPress) -> PressReply:
        await self._wait(press.presser.sender_id)
        return await super().press(press)

    async def _wait(self, sender_id: str) -> None:
        if sender_id in self.slow:
            await self.released.wait()


async def test_a_slow_chat_holds_up_no_other_and_its_updates_stay_unconfirmed(
    telegram: TelegramEmulator, settings: ChannelSettings, quick: Rhythm
) -> None:
    port, channel = SlowPort("1"), TelegramChannel(settings, quick)
    await channel.start(port)
    slow, other = telegram.user(1).chat(), telegram.user(2).chat()
    slow.say("first")
    other.say("second")
    await port.wait_for_event("second")
    slow.say("third")
    other.say("fourth")
    await port.wait_for_event("fourth")
    assert [event.text for event in port.seen] == ["second", "fourth"]
    assert len(telegram.world.updates.unconfirmed) == 4
    port.released.set()
    await eventually(lambda: not telegram.world.updates.unconfirmed, "everything confirmed")
    assert [event.text for event in port.seen] == ["second", "fourth", "first", "third"]
    await channel.stop()


async def test_after_a_stop_only_what_was_stored_does_not_come_again(
    telegram: TelegramEmulator, settings: ChannelSettings, quick: Rhythm
) -> None:
    port, channel = SlowPort("1"), TelegramChannel(settings, quick)
    await channel.start(port)
    telegram.user(2).chat().say("before")
    await port.wait_for_event("before")
    telegram.user(1).chat().say("slow")
    telegram.user(2).chat().say("after")
    await port.wait_for_event("after")
    await channel.stop()
    waiting = [update.payload.get("text") for update in telegram.world.updates.unconfirmed]
    assert waiting == ["slow", "after"]
    later = TelegramChannel(settings, quick)
    port.released.set()
    await later.start(port)
    await port.wait_for_event("slow")
    await later.stop()
    assert sorted(event.text for event in port.stored) == ["after", "before", "slow"]


async def test_a_stranger_s_presses_slow_nobody(
    telegram: TelegramEmulator, settings: ChannelSettings, quick: Rhythm
) -> None:
    port, channel = SlowPort("66"), TelegramChannel(settings, quick)
    await channel.start(port)
    group = telegram.group()
    ada, mallory = telegram.user(42, "Ada").chat(group), telegram.user(66, "Mallory").chat(group)
    await channel.send_card(Address("telegram", str(group.id)), CARD)
    for _ in range(20):
        mallory.press("Approve once")
    assert (await ada.press("Approve once").answer()).text == "Approved once"
    ada.say("and a word")
    await port.wait_for_event("and a word")
    assert [press.presser.sender_id for press in port.presses] == ["42"]
    port.released.set()
    await port.wait_for_press(21)
    await channel.stop()


async def test_a_person_s_own_presses_keep_their_order(
    telegram: TelegramEmulator, channel: TelegramChannel, port: FakePort
) -> None:
    chat = telegram.user(42).chat()
    await channel.send_card(Address("telegram", "42"), CARD)
    presses = [chat.press("Approve once") for _ in range(5)]
    await port.wait_for_press(5)
    assert [press.press_id for press in port.presses] == [f"query:{press.query.id}" for press in presses]
