"""What models used, what older turns were shortened to, and what may be asked of both tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from echo_bot.events import SessionKey

UsageKind = Literal["chat", "worker", "approval", "vision", "summary", "voice"]
"""What a model was asked for; "voice": to transcribe a recording."""

NANOS = 1_000_000_000
"""Costs are kept in billionths of a US dollar."""


@dataclass(frozen=True, slots=True)
class UsageRow:
    """One answer of a model, or a recording that was transcribed. `source` is unique: again, it counts once.

    `day` is YYYY-MM-DD in the configured zone. `cached_tokens` are among `input_tokens`. `cost_nanos` is None
    where the price is not known. `session_key` and `turn_id` are "" for what belongs to none;
    what a worker used belongs to the turn that it goes back to. `seconds` are those of a recording.
    """

    source: str
    at: datetime
    day: str
    model: str
    kind: UsageKind
    session_key: str
    turn_id: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_nanos: int | None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """Answers of one model and kind taken together; `cost_nanos` of those whose price is known."""

    model: str
    kind: str
    answers: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_nanos: int
    unknown_costs: int
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Summary:
    """A session's turns up to `through_turn` (whose history entry is of `through_at`), told in short."""

    through_turn: str
    through_at: datetime
    text: str


class Usage(Protocol):
    """What models used."""

    async def add(self, row: UsageRow) -> bool:
        """False, and nothing changed, if the source was recorded before."""
        ...

    async def of_day(self, day: str) -> tuple[UsageTotal, ...]:
        """By model and kind, those with most tokens first."""
        ...

    async def of_session(self, session_key: SessionKey) -> tuple[UsageTotal, ...]: ...

    async def of_turn(self, turn_id: str) -> tuple[UsageTotal, ...]: ...


class Summaries(Protocol):
    """One summary for each session."""

    async def get(self, session_key: SessionKey) -> Summary | None: ...

    async def put(self, session_key: SessionKey, summary: Summary) -> None:
        """In the place of an earlier one."""
        ...
