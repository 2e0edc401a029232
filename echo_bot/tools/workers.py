"""What the tools that start workers are given; see `echo_bot.agent.workers`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from echo_bot.events import TurnId
from echo_bot.storage.records import TurnRecord
from echo_bot.tools.sites import CallSite


@dataclass(frozen=True, slots=True)
class WorkerTask:
    """One worker's goal, what it is told beside it, and the tools it may use, by canonical name."""

    goal: str
    tools: tuple[str, ...]
    context: str = ""


class Workers(Protocol):
    async def start(
        self, site: CallSite, tasks: Sequence[WorkerTask], *, max_turns: int = 0, spawned: bool = False
    ) -> tuple[TurnId, ...] | str:
        """One worker for each task, or the sentence why there is none. The same call again finds its own."""
        ...

    async def ended(self, site: CallSite, workers: Sequence[TurnId]) -> tuple[TurnRecord, ...]:
        """Wait until all of them are over."""
        ...

    async def stop(self, workers: Iterable[TurnId]) -> int:
        """Stop these and what they started; how many."""
        ...
