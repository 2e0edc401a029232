"""The knowledge index at 5,000 documents: building it, a run without changes, queries, and the event loop.

Run it on a quiet machine: `python bench/knowledge.py [documents]`. Texts come from a vocabulary whose words
are as unequal in frequency as those of a language; every tenth document is Chinese.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from echo_bot.files import FileDoor, real_rules
from echo_bot.policy.guards.paths import PathRules
from echo_bot.storage.knowledge import KnowledgeIndex
from echo_bot.text.terms import terms_of
from echo_bot.tools.builtin.knowledge import Knowledge
from echo_bot.tools.knowledge import Documents

T = TypeVar("T")

QUERIES = 200
TICK_SECONDS = 0.005
COMMON = ["the", "of", "and", "to", "in", "is", "for", "on", "that", "with", "as", "it", "are", "be", "this"]
HAN = "数据库备份远程存储会议室明天下午部署模型网络安全配置文件用户权限系统日志服务器重启升级测试报告审批工具"


def vocabulary(random_: random.Random) -> list[str]:
    syllables = [a + b for a in "bcdfghklmnprstv" for b in "aeiou"]
    return COMMON + ["".join(random_.choices(syllables, k=random_.randint(2, 4))) for _ in range(8000)]


def write_documents(folder: Path, count: int, words: list[str], random_: random.Random) -> int:
    """Some 600 words each, in sections; returns the bytes in all."""
    weights = [1 / (place + 1) for place in range(len(words))]
    total = 0
    for number in range(count):
        place = folder / f"part{number % 50}"
        place.mkdir(exist_ok=True)
        lines = [f"# Document {number}"]
        for paragraph in range(8):
            if number % 10 == 0:
                lines.append("".join(random_.choices(HAN, k=150)) + "。")
            else:
                lines.append(" ".join(random_.choices(words, weights, k=75)))
            lines += ["", f"## Section {paragraph}"] if paragraph % 3 == 2 else [""]
        text = "\n".join(lines)
        (place / f"{number}.md").write_text(text, encoding="utf-8")
        total += len(text.encode())
    return total


async def watched(work: Callable[[], Awaitable[T]]) -> tuple[T, float, list[float]]:
    """The result, how long it took, and by how many ms each tick of the event loop came late meanwhile."""
    late: list[float] = []

    async def tick() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(TICK_SECONDS)
            late.append((time.perf_counter() - before - TICK_SECONDS) * 1000)

    ticking = asyncio.create_task(tick())
    started = time.perf_counter()
    result = await work()
    took = time.perf_counter() - started
    ticking.cancel()
    return result, took, sorted(late)


def at(values: list[float], share: float) -> float:
    return values[min(int(len(values) * share), len(values) - 1)]


async def measure(count: int) -> None:
    random_ = random.Random(7)
    words = vocabulary(random_)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "docs"
        folder.mkdir()
        size = write_documents(folder, count, words, random_)
        door = FileDoor(real_rules(PathRules(workspace=name)))
        knowledge = Knowledge(
            KnowledgeIndex(Path(name) / "knowledge.db"),
            Documents(name, (".md",), 1500),
            ["docs"],
            lambda: door,
            lambda: datetime.now(UTC),
        )
        for what in ("build", "nothing changed"):
            report, took, late = await watched(lambda: knowledge.rebuild(lambda line: None))
            print(
                f"{what:16} {took:6.1f} s  {report.changed:5} of {report.seen} indexed   "
                f"loop late p95 {at(late, 0.95):5.1f} ms, most {late[-1]:5.1f} ms"
            )
        state = knowledge.index.state()
        print(f"{'index':16} {state.passages:,} passages, {state.bytes / size:.1f} times {size / 1e6:.0f} MB")
        kinds: dict[str, Callable[[], str]] = {
            "rare words": lambda: " ".join(random_.choices(words[500:], k=3)),
            "a sentence": lambda: "how is the " + " ".join(random_.choices(words[15:], k=4)) + " to be",
            "Chinese": lambda: "".join(random_.choices(HAN, k=5)),
            "two characters": lambda: "".join(random_.choices(HAN, k=2)),
        }
        for kind, query in kinds.items():
            taken: list[float] = []
            late_all: list[float] = []
            for _ in range(QUERIES // len(kinds)):
                terms = terms_of(query())
                _, took, late = await watched(lambda: knowledge.search(terms, 20, lambda line: None))  # noqa: B023
                taken.append(took * 1000)
                late_all += late
            taken.sort()
            late_all.sort()
            print(
                f"{kind:16} median {statistics.median(taken):6.1f} ms   p95 {at(taken, 0.95):6.1f} ms   "
                f"loop late most {late_all[-1] if late_all else 0.0:5.1f} ms"
            )


if __name__ == "__main__":
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 5000))
