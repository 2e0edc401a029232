"""What models used and cost: recorded once for every answer and recording, held against limits of a day."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from echo_bot.events import SessionKey
from echo_bot.storage.usage_record import NANOS, Usage, UsageKind, UsageRow, UsageTotal
from echo_bot.text.language import N_, Say, english, listed

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

UNPRICED_RECORDINGS = N_(
    "models.limits.cost_per_day cannot be kept: the price of transcribing is not known. "
    "Set tools.stt.price_per_minute, 0 where it costs nothing"
)


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """US dollars for a million tokens."""

    input: float
    output: float
    cached_input: float | None = None


@dataclass(frozen=True, slots=True)
class DayLimits:
    """Of everybody together; 0 is none. `cost` in US dollars."""

    tokens: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Tokens:
    """`cached` are among `input`."""

    input: int
    output: int
    cached: int


@dataclass(frozen=True, slots=True)
class Recording:
    """One that was transcribed, by whom; `tokens` where the service counts those as well."""

    by: str
    seconds: float
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Purpose:
    """What an answer was for. `source` is the same again when the answer is taken from a journal."""

    source: str
    kind: UsageKind
    session_key: SessionKey
    turn_id: str = ""


class Ledger:
    """A day begins at midnight in `zone`. `minute_price`: US dollars for a minute of recording, if known."""

    def __init__(
        self,
        usage: Usage,
        limits: DayLimits,
        prices: Mapping[str, TokenPrice],
        zone: tzinfo,
        clock: Callable[[], datetime],
        minute_price: float | None = None,
    ) -> None:
        self._usage, self._limits, self._prices = usage, limits, prices
        self._zone, self._clock, self._minute_price = zone, clock, minute_price

    async def record(
        self, name: str, response: ModelResponse, purpose: Purpose, *, asked_tokens: int = 0
    ) -> None:
        """Count an answer of the model `name`; again, and nothing changes.

        `asked_tokens`, an estimate, stands in where the server does not say what was used.
        """
        tokens = used_tokens(response, asked_tokens)
        price = self._prices.get(name)
        cost = cost_by(price, tokens) if price else listed_cost(response)
        await self._usage.add(self._row(name, response.timestamp, purpose, tokens, cost))

    async def record_recording(self, recording: Recording, purpose: Purpose) -> None:
        """Count a recording that was transcribed."""
        price = self._minute_price
        cost = None if price is None else round(recording.seconds / 60 * price * NANOS)
        row = self._row(recording.by, self._clock(), purpose, recording.tokens, cost)
        await self._usage.add(replace(row, seconds=recording.seconds))

    def _row(
        self, name: str, at: datetime, purpose: Purpose, tokens: Tokens, cost_nanos: int | None
    ) -> UsageRow:
        return UsageRow(
            source=purpose.source,
            at=at,
            day=self._day(at),
            model=name,
            kind=purpose.kind,
            session_key=purpose.session_key,
            turn_id=purpose.turn_id,
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cached_tokens=tokens.cached,
            cost_nanos=cost_nanos,
        )

    async def refusal(self, say: Say = english) -> str:
        """Why no model may be asked any more today; "" when one may."""
        return (await self.limit())(say)

    async def limit(self) -> Callable[[Say], str]:
        """The same, to be said in any language."""
        if not (self._limits.tokens or self._limits.cost):
            return lambda say: ""
        return partial(over_limits, await self.today(), self._limits)

    async def today(self) -> tuple[UsageTotal, ...]:
        return await self._usage.of_day(self.day())

    def day(self) -> str:
        """Today's."""
        return self._day(self._clock())

    async def of_session(self, session_key: SessionKey) -> tuple[UsageTotal, ...]:
        return await self._usage.of_session(session_key)

    async def of_turn(self, turn_id: str) -> tuple[UsageTotal, ...]:
        """Its workers' too."""
        return await self._usage.of_turn(turn_id)

    def _day(self, at: datetime) -> str:
        return at.astimezone(self._zone).date().isoformat()


def used_tokens(response: ModelResponse, asked_tokens: int = 0) -> Tokens:
    """As the server says, else estimated."""
    used = response.usage
    if used.total_tokens:
        return Tokens(used.input_tokens, used.output_tokens, used.cache_read_tokens)
    from echo_bot.agent.history import estimated_tokens

    return Tokens(asked_tokens, estimated_tokens([response]), 0)


def over_limits(totals: Sequence[UsageTotal], limits: DayLimits, say: Say = english) -> str:
    """Which limit is reached. A cost that is not known cannot be held against one, so it ends the day too."""
    tokens = sum(each.tokens for each in totals)
    if limits.tokens and tokens >= limits.tokens:
        reached = say(
            N_("models.limits.tokens_per_day is reached: {used:,} of {most:,} tokens were used today")
        )
        return reached.format(used=tokens, most=limits.tokens)
    if not limits.cost:
        return ""
    if any(each.unknown_costs for each in totals if each.kind == "voice"):
        return say(UNPRICED_RECORDINGS)
    unpriced = sorted({each.model for each in totals if each.unknown_costs})
    if unpriced:
        unknown = say(
            N_(
                "models.limits.cost_per_day cannot be kept: the price of {models} is not known. "
                "Set models.prices, such as {example}"
            )
        )
        example = f'{{"{unpriced[0]}": {{input: 0, output: 0}}}}'
        return unknown.format(models=listed(unpriced, say), example=example)
    spent = sum(each.cost_nanos for each in totals) / NANOS
    if spent >= limits.cost:
        reached = say(
            N_("models.limits.cost_per_day is reached: ${spent:.2f} of ${most:.2f} were spent today")
        )
        return reached.format(spent=spent, most=limits.cost)
    return ""


def cost_by(price: TokenPrice, tokens: Tokens) -> int:
    """By the operator's price, in billionths of a dollar."""
    cached_price = price.input if price.cached_input is None else price.cached_input
    fresh = max(0, tokens.input - tokens.cached)
    per_million = fresh * price.input + tokens.cached * cached_price + tokens.output * price.output
    return round(per_million * NANOS / 1_000_000)


def listed_cost(response: ModelResponse) -> int | None:
    """By the price list that is installed; None where it does not know the model or nothing was told."""
    if not response.model_name or not response.usage.total_tokens:
        return None
    try:
        return int(Decimal(response.cost().total_price) * NANOS)
    except (LookupError, ValueError):
        return None
