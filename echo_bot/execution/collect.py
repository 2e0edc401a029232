"""Run a started process to its end and keep its output as text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from echo_bot.execution.output import BoundedText, TextStream
from echo_bot.execution.protocol import Outcome, RunningProcess


@dataclass(frozen=True, slots=True)
class Collected:
    """`is_flooded`: it was ended because it wrote far more than anybody could keep."""

    text: str
    outcome: Outcome
    dropped_chars: int = 0
    is_flooded: bool = False


async def run_to_end(process: RunningProcess, max_chars: int, on_text: Callable[[str], None]) -> Collected:
    """Output goes to `on_text` as it comes, also what is not kept. Cancelled, it takes the process along."""
    stream, kept = TextStream(), BoundedText(max_chars)

    def take(text: str) -> None:
        if text:
            on_text(text)
        kept.add(text)

    try:
        async for chunk in process.output():
            take(stream.feed(chunk.data))
            await asyncio.sleep(0)  # a process that writes without pause must not be all that runs here
            if kept.is_flooded:
                await process.kill()
                break
        take(stream.feed(b"", final=True))
        outcome = await process.wait()
    finally:
        await process.kill()
    return Collected(await asyncio.to_thread(kept.text), outcome, kept.dropped_chars, kept.is_flooded)
