"""What was used, in words and against the limits of a day: answers and recordings apart, costs together."""

from __future__ import annotations

import pytest

from echo_bot.agent.ledger import UNPRICED_RECORDINGS, DayLimits, over_limits
from echo_bot.agent.usage_words import usage_json, usage_line, usage_lines
from echo_bot.storage.usage_record import NANOS, UsageTotal

CHAT = UsageTotal("a:b", "chat", 2, 1_000, 50, 0, NANOS, 0)
VOICE = UsageTotal("stt:w", "voice", 1, 0, 0, 0, NANOS // 2, 0, 34.4)
FREE_OF_PRICE = UsageTotal("stt:w", "voice", 3, 0, 0, 0, 0, 3, 61.0)

LINES: dict[str, tuple[list[UsageTotal], str]] = {
    "nothing": ([], "nothing yet"),
    "answers alone": ([CHAT], "2 answers, 1,000 tokens read, 50 written, $1.00"),
    "recordings alone": ([VOICE], "1 recording of 34 s, $0.5000"),
    "both": ([CHAT, VOICE], "2 answers, 1,000 tokens read, 50 written, 1 recording of 34 s, $1.50"),
    "recordings without a price": ([FREE_OF_PRICE], "3 recordings of 61 s, cost unknown"),
    "beside answers with one": (
        [CHAT, FREE_OF_PRICE],
        "2 answers, 1,000 tokens read, 50 written, 3 recordings of 61 s, $1.00 and 3 of unknown cost",
    ),
}


@pytest.mark.parametrize(("totals", "line"), LINES.values(), ids=LINES.keys())
def test_the_line(totals: list[UsageTotal], line: str) -> None:
    assert usage_line(totals) == line


def test_by_model_a_service_for_voices_is_a_line_of_its_own() -> None:
    assert list(usage_lines([CHAT, VOICE])) == [
        "`a:b`: 2 answers, 1,000 tokens read, 50 written, $1.00",
        "`stt:w`: 1 recording of 34 s, $0.5000",
    ]


def test_as_json_answers_and_recordings_are_counted_apart() -> None:
    told = usage_json("2026-01-02", [CHAT, FREE_OF_PRICE])
    counts = ("answers", "recordings", "recorded_seconds", "cost_usd")
    assert [told[name] for name in counts] == [2, 3, 61.0, 1.0]
    unknown = ("answers_of_unknown_cost", "recordings_of_unknown_cost")
    assert [told[name] for name in unknown] == [0, 3]
    assert usage_json("2026-01-02", [FREE_OF_PRICE])["cost_usd"] is None


LIMITS: dict[str, tuple[list[UsageTotal], DayLimits, str]] = {
    "what recordings cost counts": (
        [CHAT, VOICE],
        DayLimits(cost=1.5),
        "models.limits.cost_per_day is reached: $1.50 of $1.50 were spent today",
    ),
    "below the limit": ([CHAT, VOICE], DayLimits(cost=1.6), ""),
    "a recording without a price ends a day with a limit": (
        [FREE_OF_PRICE],
        DayLimits(cost=100),
        UNPRICED_RECORDINGS,
    ),
    "and no day without one": ([FREE_OF_PRICE], DayLimits(tokens=100), ""),
    "tokens of a service that counts those count": (
        [UsageTotal("stt:w", "voice", 1, 60, 40, 0, 0, 0, 5.0)],
        DayLimits(tokens=100),
        "models.limits.tokens_per_day is reached: 100 of 100 tokens were used today",
    ),
}


@pytest.mark.parametrize(("totals", "limits", "refusal"), LIMITS.values(), ids=LIMITS.keys())
def test_the_limits_of_a_day(totals: list[UsageTotal], limits: DayLimits, refusal: str) -> None:
    assert over_limits(totals, limits) == refusal
