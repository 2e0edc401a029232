"""One after the other in the order of their coming, and nobody waits for long."""

from __future__ import annotations

import asyncio

from echo_bot.tools.in_order import InOrder


async def test_the_next_begins_when_the_one_before_leaves() -> None:
    order, seen = InOrder(patience_seconds=60), list[str]()
    go_on = asyncio.Event()

    async def call(name: str) -> None:
        async with order.place() as leave:
            seen.append(name)
            if name == "first":
                await go_on.wait()
                leave()
                await asyncio.sleep(0)
            seen.append(f"{name} ends")

    calls = [asyncio.create_task(call(name)) for name in ("first", "second", "third")]
    await asyncio.sleep(0)
    assert seen == ["first"]
    go_on.set()
    await asyncio.gather(*calls)
    assert [name for name in seen if "ends" not in name] == ["first", "second", "third"]


async def test_one_that_fails_or_is_cancelled_holds_up_no_other() -> None:
    order = InOrder(patience_seconds=60)

    async def call(fails: bool) -> None:
        async with order.place():
            if fails:
                raise ValueError

    ended = await asyncio.gather(call(True), call(False), return_exceptions=True)
    assert [type(each) for each in ended] == [ValueError, type(None)]


async def test_an_order_that_takes_long_is_given_up() -> None:
    order = InOrder(patience_seconds=0.01)
    async with order.place(), order.place():
        pass
