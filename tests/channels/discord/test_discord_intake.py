from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from channels.discord.intake import Intake, Work
from echo_bot.errors import StorageError


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("channels.discord.intake._PAUSES_SECONDS", (0.0, 0.0))


@pytest.fixture
async def intake() -> AsyncIterator[Intake]:
    intake = Intake("")
    intake.open()
    yield intake
    await intake.close()


class Desk:
    """Takes work by name; what is held up waits until `let` is set, what is refused raises so many times."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.done: list[str] = []
        self.let: dict[str, asyncio.Event] = {}
        self.refused: dict[str, int] = {}
        self.finished = asyncio.Event()

    def work(self, name: str, *, held: bool = False, refused: int = 0) -> Work:
        if held:
            self.let[name] = asyncio.Event()
        self.refused[name] = refused

        async def take() -> None:
            self.begun.append(name)
            if name in self.let:
                await self.let[name].wait()
            if self.refused[name] > 0:
                self.refused[name] -= 1
                raise StorageError("not now")
            self.done.append(name)
            if name == "last":
                self.finished.set()

        return take


async def until_nothing_happens() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_channel_keeps_its_order_and_holds_up_no_other(intake: Intake) -> None:
    desk = Desk()
    intake.put(desk.work("first", held=True), 1)
    intake.put(desk.work("second"), 1)
    intake.put(desk.work("elsewhere"), 2)
    await until_nothing_happens()
    assert (desk.begun, desk.done) == (["first", "elsewhere"], ["elsewhere"])
    desk.let["first"].set()
    await until_nothing_happens()
    assert desk.done == ["elsewhere", "first", "second"]


async def test_what_was_missed_comes_after_all_before_and_before_all_after(intake: Intake) -> None:
    desk = Desk()
    intake.put(desk.work("before", held=True), 1)
    intake.put(desk.work("missed"))
    intake.put(desk.work("after"), 2)
    await until_nothing_happens()
    assert desk.begun == ["before"]
    desk.let["before"].set()
    await until_nothing_happens()
    assert desk.done == ["before", "missed", "after"]


async def test_while_one_cannot_be_stored_nothing_else_is_given_up(intake: Intake) -> None:
    desk = Desk()
    intake.put(desk.work("lost", refused=9), 1)
    for number in range(5):
        intake.put(desk.work(str(number), refused=1), number + 2)
    intake.put(desk.work("last"), 99)
    await asyncio.wait_for(desk.finished.wait(), 5)
    assert sorted(desk.done) == ["0", "1", "2", "3", "4", "last"]
    assert intake.error == ""


async def test_one_that_cannot_be_read_stops_no_other(intake: Intake) -> None:
    async def broken() -> None:
        raise KeyError("id")

    desk = Desk()
    intake.put(broken, 1)
    intake.put(broken)
    intake.put(desk.work("last"), 1)
    await asyncio.wait_for(desk.finished.wait(), 5)


async def test_closing_ends_what_waits(intake: Intake) -> None:
    desk = Desk()
    intake.put(desk.work("running", held=True), 1)
    intake.put(desk.work("waiting"), 1)
    await until_nothing_happens()
    await intake.close()
    desk.let["running"].set()
    await until_nothing_happens()
    assert (desk.begun, desk.done) == (["running"], [])
