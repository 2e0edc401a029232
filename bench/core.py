"""What the core adds between a message and its reply, without a model or a network.

Run it on a quiet machine: `python bench/core.py`. Milliseconds, and database transactions for each message.
"""

from __future__ import annotations

import asyncio
import logging
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import structlog

from echo_bot.events import Address, MessageRef, OutboundText
from echo_bot.storage.database import Database
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FakeChannel

ROUNDS = 100
CHATS = 20
MESSAGES = 200
CONFIG: dict[str, object] = {
    "tools.exec.host": "local",
    "permissions.admin_users": ["telegram:1"],
    "permissions.approval.auto_approve": ["exec"],
}


class Counted:
    """Counts the transactions of every store of this process."""

    def __init__(self) -> None:
        self.reads = self.writes = 0
        read, write = Database.read, Database.write

        async def counted_read(database: Database, work: Callable[..., object]) -> object:
            self.reads += 1
            return await read(database, work)

        async def counted_write(database: Database, work: Callable[..., object]) -> object:
            self.writes += 1
            return await write(database, work)

        Database.read = counted_read  # type: ignore[method-assign,assignment]
        Database.write = counted_write  # type: ignore[method-assign,assignment]

    def since(self, before: tuple[int, int], rounds: int) -> str:
        reads, writes = (self.reads - before[0]) / rounds, (self.writes - before[1]) / rounds
        return f"{reads:4.1f} reads {writes:4.1f} writes"


class Watched(FakeChannel):
    """Wakes whoever waits for a message, so that waiting costs no processor time."""

    def __init__(self) -> None:
        super().__init__("telegram")
        self.posted = asyncio.Event()

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef:
        ref = await super().send_text(address, message)
        self.posted.set()
        return ref


async def replies(bot: RunningBot, count: int) -> None:
    """Until the chat shows so many messages."""
    channel = bot.channel
    assert isinstance(channel, Watched)
    while len(channel.messages) < count:
        channel.posted.clear()
        await channel.posted.wait()


async def one_by_one(bot: RunningBot, text: str) -> list[float]:
    taken = []
    for _ in range(ROUNDS):
        shown, start = len(bot.channel.messages), time.perf_counter()
        await bot.channel.say(text)
        await replies(bot, shown + 1)
        taken.append((time.perf_counter() - start) * 1000)
        while bot.parts.queues.total() != (0, 0):  # noqa: ASYNC110 - the queues have no event for this
            await asyncio.sleep(0.01)
    return taken


async def all_at_once(bot: RunningBot, text: str) -> float:
    shown, start = len(bot.channel.messages), time.perf_counter()
    await asyncio.gather(*(bot.channel.say(text, chat_id=str(n % CHATS + 1)) for n in range(MESSAGES)))
    await replies(bot, shown + MESSAGES)
    return (time.perf_counter() - start) * 1000


async def floor(folder: Path) -> float:
    """One committed write: what nothing that is stored before it is answered can be faster than."""
    async with running_bot(folder, CONFIG) as bot:
        taken = []
        for number in range(ROUNDS):
            start = time.perf_counter()
            await bot.store.values.put("bench", "key", str(number))
            taken.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken)


async def report(
    name: str, counted: Counted, write: float, work: Callable[[], Awaitable[list[float]]]
) -> None:
    before = counted.reads, counted.writes
    taken = sorted(await work())
    p50, p95 = statistics.median(taken), taken[int(len(taken) * 0.95)]
    print(
        f"{name:28} p50 {p50:7.2f}  p95 {p95:7.2f}  = {p50 / write:5.1f} writes' time; "
        f"{counted.since(before, len(taken))} each"
    )


async def main() -> None:
    counted = Counted()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("floor", "core"):
            Path(folder, name).mkdir()  # noqa: ASYNC240 - nothing else runs yet
        write = await floor(Path(folder, "floor"))
        print(f"{'one committed write':28} p50 {write:7.2f}")
        async with running_bot(Path(folder, "core"), CONFIG, channel=Watched()) as bot:
            await one_by_one(bot, "warm up")
            await report("hello, without a model", counted, write, lambda: one_by_one(bot, "hello"))
            await report("/whoami", counted, write, lambda: one_by_one(bot, "/whoami"))
            await report("/tool todo", counted, write, lambda: one_by_one(bot, "/tool todo action=list"))
            await report("/run true, auto-approved", counted, write, lambda: one_by_one(bot, "/run true"))
            before = counted.reads, counted.writes
            total = await all_at_once(bot, "hello")
            print(
                f"{MESSAGES} messages over {CHATS} chats    {total:7.0f} in all, {total / MESSAGES:.2f} each "
                f"= {total / MESSAGES / write:.1f} writes' time; {counted.since(before, MESSAGES)} each"
            )


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    asyncio.run(main())
