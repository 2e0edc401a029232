"""Where a card cannot be changed its end is a message of its own, which comes once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from echo_bot.delivery import cards
from echo_bot.errors import TemporaryFailure
from echo_bot.events import Address, MessageRef, OutboundText
from echo_bot.testing.bot import running_bot
from echo_bot.testing.fake_channel import FULL_CAPABILITIES, FakeChannel, FakeMessage
from echo_bot.testing.waiting import eventually

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]


class Held(FakeChannel):
    """Every end of a card waits for `let`; the first one fails then."""

    def __init__(self) -> None:
        super().__init__("telegram", capabilities=replace(FULL_CAPABILITIES, edits=False))
        self.begun = self.under_way = self.most = 0
        self.let = asyncio.Semaphore(0)

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef:
        if "Id: " not in message.text:
            return await super().send_text(address, message)
        self.begun, self.under_way = self.begun + 1, self.under_way + 1
        self.most = max(self.most, self.under_way)
        is_first = self.begun == 1
        try:
            await self.let.acquire()
        finally:
            self.under_way -= 1
        if is_first:
            raise TemporaryFailure("down")
        return await super().send_text(address, message)


async def test_an_end_that_is_shown_again_and_again_is_one_message(
    tmp_path: Path, local: Config, is_open: Is, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cards, "_TRIES", 1)
    channel = Held()
    async with running_bot(tmp_path, local, channel=channel) as bot:
        await channel.say("/run echo hi")
        await channel.wait_for(is_open)
        [record] = await bot.store.approvals.pending()
        copies = bot.parts.broker._copies

        def waits() -> bool:
            lock = copies._locks.get(record.approval_id)
            return lock is not None and bool(lock._waiters)

        await channel.press("Deny")
        await eventually(lambda: channel.begun == 1, "the first try")
        again = [asyncio.create_task(copies.show(record))]
        await eventually(waits, "another that waits for it")
        channel.let.release()
        await eventually(lambda: channel.begun == 2, "the second try")
        again.append(asyncio.create_task(copies.show(record)))
        await eventually(lambda: waits() or channel.begun > 2, "a third that waits or begins")
        channel.let.release()
        channel.let.release()
        await asyncio.gather(*again)
        assert (channel.begun, channel.most) == (2, 1)
