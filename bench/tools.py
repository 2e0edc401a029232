"""What big work costs the tools: a flood of output, a tree of 100,000 files, an index of 5,000 documents.

`python bench/tools.py [PART …]` (spill, list, search, index). Each line has the wall time, the processor
time, how much the process grew at its peak, and the longest time that the event loop was held up meanwhile.
"""

from __future__ import annotations

import asyncio
import gc
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.waiting import eventually

FILES, FILES_IN_A_FOLDER = 100_000, 100
DOCUMENTS = 5_000
OUTPUT_MB = 50
TICK_SECONDS = 0.002
PATIENCE_SECONDS = 120
IDLE_SECONDS = 3
LONGEST_DELAY_MS = 100
"""A loop that is held up longer than this keeps other chats waiting."""

WORDS = ("river", "stone", "lantern", "harbour", "orchard", "copper", "willow", "meadow", "anchor")
CONFIG: dict[str, object] = {
    "tools.exec.host": "local",
    "permissions.admin_users": ["telegram:1"],
    "permissions.approval.auto_approve": ["*"],
    "tools.exec.timeout_seconds": 60,
    "tools.exec.max_output_chars": 2 * OUTPUT_MB * 1_000_000,
}


@dataclass(slots=True)
class Measured:
    seconds: float = 0.0
    processor_seconds: float = 0.0
    grown_mb: float = 0.0
    longest_delay_ms: float = 0.0


@asynccontextmanager
async def measured() -> AsyncIterator[Measured]:
    """Fills in what the work inside took."""
    found = Measured()
    watch = asyncio.create_task(_watch(found))
    before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    try:
        yield found
    finally:
        found.seconds = time.perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_SELF)
        found.processor_seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found.grown_mb = (after.ru_maxrss - before.ru_maxrss) / 1024
        watch.cancel()
        with suppress(asyncio.CancelledError):
            await watch


async def _watch(found: Measured) -> None:
    while True:
        due = time.perf_counter() + TICK_SECONDS
        await asyncio.sleep(TICK_SECONDS)
        found.longest_delay_ms = max(found.longest_delay_ms, (time.perf_counter() - due) * 1000)


async def call(bot: RunningBot, title: str, text: str, part: str) -> bool:
    """One direct call in the chat, until its answer is there; True when the loop stayed free."""
    before = len(bot.channel.messages)

    def answered() -> bool:
        said = (message.text for message in bot.channel.messages[before:])
        return any(each is not None and part in each.text for each in said)

    async with measured() as found:
        await bot.channel.say(text)
        await eventually(answered, title, timeout=PATIENCE_SECONDS)
    is_free = found.longest_delay_ms <= LONGEST_DELAY_MS
    print(
        f"{title:44} {found.seconds:6.2f} s  processor {found.processor_seconds:6.2f} s  "
        f"grown {found.grown_mb:6.1f} MiB  loop held {found.longest_delay_ms:6.1f} ms  "
        f"{'ok' if is_free else 'HELD UP'}"
    )
    return is_free


def plant(workspace: Path) -> None:
    """A tree of small files, each with a line of its own; `needle` stands in one of them."""
    for folder in range(FILES // FILES_IN_A_FOLDER):
        place = workspace / f"{folder // 10:03}" / f"{folder:04}"
        place.mkdir(parents=True)
        for number in range(FILES_IN_A_FOLDER):
            (place / f"file{number:03}.txt").write_text(f"line of {folder} and {number}\n")
    (workspace / "099" / "0999" / "file099.txt").write_text("the needle\n")


def write_documents(workspace: Path) -> None:
    chance = random.Random(5)
    for number in range(DOCUMENTS):
        place = workspace / "library" / f"{number // 100:02}"
        place.mkdir(parents=True, exist_ok=True)
        body = "\n\n".join(" ".join(chance.choices(WORDS, k=60)) for _ in range(6))
        (place / f"{number:04}.md").write_text(f"# Document {number}\n\n{body}\n")
    (workspace / "library" / "00" / "0000.md").write_text("# The one\n\nHere lies the needle.\n")


async def idle() -> None:
    """What this machine does to a loop that has nothing to do: the measure of the figures below."""
    async with measured() as found:
        await asyncio.sleep(IDLE_SECONDS)
    print(f"{'idle':44} {found.seconds:6.2f} s  loop held {found.longest_delay_ms:6.1f} ms")


async def spill(bot: RunningBot) -> bool:
    command = f"head -c {OUTPUT_MB * 750_000} /dev/urandom | base64 -w 76"
    free = await call(bot, f"exec: {OUTPUT_MB} MB of output, spilled", f"/run {command}", "left out")
    kept = max(
        (bot.workspace.parent / "state" / "spill").glob("*/*.txt"), key=lambda each: each.stat().st_size
    )
    read = await call(
        bot, "read_spill: its last page", f"/tool read_spill path={kept.name} offset=600000 limit=5", "600"
    )
    found = await call(
        bot,
        "read_spill: a pattern in all of it",
        f"/tool read_spill path={kept.name} pattern=^[A-C]{8}",
        "\t",
    )
    return free and read and found


async def listing(bot: RunningBot) -> bool:
    await asyncio.to_thread(plant, bot.workspace)
    one = await call(bot, "list_dir: the top", "/tool list_dir path=.", "099/")
    deep = await call(bot, "list_dir: 100,000 files, 3 levels", "/tool list_dir path=. depth=3", "000/")
    return one and deep


async def searching(bot: RunningBot) -> bool:
    await asyncio.to_thread(plant, bot.workspace) if not (bot.workspace / "099").exists() else None
    how = "ripgrep" if shutil.which("rg") else "no ripgrep"
    line = await call(
        bot, f"search_files: a word ({how})", "/tool search_files pattern=needle", "file099.txt:1"
    )
    hard = await call(
        bot, "search_files: nothing to go by", "/tool search_files pattern=n[aeiou]{2}dle", "file099.txt:1"
    )
    glob = await call(
        bot, "search_files: a glob", "/tool search_files pattern=**/0999/*99.txt mode=glob", "file099.txt"
    )
    return line and hard and glob


async def index(bot: RunningBot) -> bool:
    await asyncio.to_thread(write_documents, bot.workspace)
    built = await call(
        bot, "knowledge_index: 5,000 documents", "/tool knowledge_index action=rebuild", "5,000"
    )
    again = await call(
        bot, "knowledge_index: nothing changed", "/tool knowledge_index action=rebuild", "5,000"
    )
    asked = await call(bot, "knowledge_search", "/tool knowledge_search query=needle", "0000.md")
    return built and again and asked


PARTS: dict[str, tuple[str, Callable[[RunningBot], Awaitable[bool]]]] = {
    "spill": ("read_spill", spill),
    "list": ("list_dir", listing),
    "search": ("search_files", searching),
    "index": ("knowledge_index", index),
}
"""Each part with the tool that it needs."""


async def main(parts: Sequence[str]) -> int:
    held = False
    with tempfile.TemporaryDirectory() as folder:
        library = {"knowledge.paths": [str(Path(folder, "workspace", "library"))]} if "index" in parts else {}
        async with running_bot(Path(folder), {**CONFIG, **library}) as bot:
            gc.freeze()  # as `echo-bot run` does
            await idle()
            for part in parts:
                tool, work = PARTS[part]
                if tool in bot.parts.overview.available_tools():
                    held |= not await work(bot)
                else:
                    print(f"{part}: {tool} is not available")
    return int(held)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:] or list(PARTS))))
