from __future__ import annotations

import asyncio

import pytest

from echo_bot.agent import at_work
from echo_bot.agent.at_work import shown_at_work


class Sign:
    def __init__(self) -> None:
        self.shown = 0
        self.twice = asyncio.Event()

    async def show(self) -> None:
        self.shown += 1
        if self.shown == 2:
            self.twice.set()


async def test_what_is_done_at_once_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_work, "_AFTER_SECONDS", 0.0)
    sign = Sign()
    async with shown_at_work(sign.show):
        pass
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert sign.shown == 0


async def test_the_sign_comes_again_until_the_work_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_work, "_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(at_work, "_AGAIN_SECONDS", 0.0)
    sign = Sign()
    async with shown_at_work(sign.show):
        await asyncio.wait_for(sign.twice.wait(), 5)
    shown = sign.shown
    await asyncio.sleep(0)
    assert sign.shown == shown


async def test_work_that_is_cancelled_ends_its_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_work, "_AFTER_SECONDS", 0.0)
    sign, never = Sign(), asyncio.Event()

    async def work() -> None:
        async with shown_at_work(sign.show):
            await never.wait()

    task = asyncio.create_task(work())
    while not sign.shown:
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert [each.get_name() for each in asyncio.all_tasks() if each.get_name() == "typing"] == []
