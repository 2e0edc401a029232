"""What models used, in words and as JSON. A cost that is not known is said to be so, and is never nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from echo_bot.storage.usage_record import NANOS, UsageTotal

VOICE = "voice"


def usage_line(totals: Sequence[UsageTotal]) -> str:
    """All of it in one line."""
    if not totals:
        return "nothing yet"
    said = [each for each in totals if each.kind != VOICE]
    heard = [each for each in totals if each.kind == VOICE]
    parts = [_answers_words(said)] if said else []
    parts += [_recordings_words(heard)] if heard else []
    return ", ".join([*parts, cost_words(totals)])


def _answers_words(totals: Sequence[UsageTotal]) -> str:
    read = sum(each.input_tokens for each in totals)
    cached = sum(each.cached_tokens for each in totals)
    written = sum(each.output_tokens for each in totals)
    from_cache = f" ({cached:,} from the cache)" if cached else ""
    return f"{_counted(totals, 'answer')}, {read:,} tokens read{from_cache}, {written:,} written"


def _recordings_words(totals: Sequence[UsageTotal]) -> str:
    return f"{_counted(totals, 'recording')} of {sum(each.seconds for each in totals):,.0f} s"


def _counted(totals: Sequence[UsageTotal], thing: str) -> str:
    count = sum(each.answers for each in totals)
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def usage_lines(totals: Sequence[UsageTotal]) -> Iterator[str]:
    """One line for each model, and what it was asked for besides talking."""
    for model in dict.fromkeys(each.model for each in totals):
        of_model = [each for each in totals if each.model == model]
        kinds = [each.kind for each in of_model if each.kind not in ("chat", VOICE)]
        also = f" (also {', '.join(kinds)})" if kinds else ""
        yield f"`{model}`: {usage_line(of_model)}{also}"


def cost_words(totals: Sequence[UsageTotal]) -> str:
    unknown = sum(each.unknown_costs for each in totals)
    if unknown and unknown == sum(each.answers for each in totals):
        return "cost unknown"
    cost = sum(each.cost_nanos for each in totals) / NANOS
    known = f"${cost:.2f}" if cost >= 1 or not cost else f"${cost:.4f}"
    return f"{known} and {unknown} of unknown cost" if unknown else known


def usage_json(day: str, totals: Sequence[UsageTotal]) -> dict[str, object]:
    """`cost_usd` is that of the answers and recordings whose price is known; null where none is."""
    counted, unknown = _count_and_unknown(totals)
    recordings, unknown_recordings = _count_and_unknown([each for each in totals if each.kind == VOICE])
    cost = sum(each.cost_nanos for each in totals) / NANOS
    return {
        "day": day,
        "answers": counted - recordings,
        "recordings": recordings,
        "recorded_seconds": round(sum(each.seconds for each in totals), 1),
        "input_tokens": sum(each.input_tokens for each in totals),
        "output_tokens": sum(each.output_tokens for each in totals),
        "cached_tokens": sum(each.cached_tokens for each in totals),
        "cost_usd": None if counted and unknown == counted else round(cost, 6),
        "answers_of_unknown_cost": unknown - unknown_recordings,
        "recordings_of_unknown_cost": unknown_recordings,
        "line": usage_line(totals),
    }


def _count_and_unknown(totals: Sequence[UsageTotal]) -> tuple[int, int]:
    return sum(each.answers for each in totals), sum(each.unknown_costs for each in totals)
