"""What models used, in words and as JSON. A cost that is not known is said to be so, and is never nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from echo_bot.storage.usage_record import NANOS, UsageTotal
from echo_bot.text.language import N_, _, listed, ngettext

VOICE = "voice"
_KINDS = {
    "worker": N_("worker"),
    "approval": N_("approval"),
    "vision": N_("vision"),
    "summary": N_("summary"),
}
"""What a model was asked for besides talking."""


def usage_line(totals: Sequence[UsageTotal]) -> str:
    """All of it in one line."""
    if not totals:
        return _("nothing yet")
    said = [each for each in totals if each.kind != VOICE]
    heard = [each for each in totals if each.kind == VOICE]
    parts = [_answers_words(said)] if said else []
    parts += [_recordings_words(heard)] if heard else []
    return listed([*parts, cost_words(totals)])


def _answers_words(totals: Sequence[UsageTotal]) -> str:
    read = sum(each.input_tokens for each in totals)
    cached = sum(each.cached_tokens for each in totals)
    written = sum(each.output_tokens for each in totals)
    count = _count(totals)
    template = ngettext(
        "{count:,} answer, {read:,} tokens read{from_cache}, {written:,} written",
        "{count:,} answers, {read:,} tokens read{from_cache}, {written:,} written",
        count,
    )
    from_cache = _(" ({count:,} from the cache)").format(count=cached) if cached else ""
    return template.format(count=count, read=read, from_cache=from_cache, written=written)


def _recordings_words(totals: Sequence[UsageTotal]) -> str:
    count = _count(totals)
    template = ngettext(
        "{count:,} recording of {seconds:,.0f} s", "{count:,} recordings of {seconds:,.0f} s", count
    )
    return template.format(count=count, seconds=sum(each.seconds for each in totals))


def _count(totals: Sequence[UsageTotal]) -> int:
    return sum(each.answers for each in totals)


def usage_lines(totals: Sequence[UsageTotal]) -> Iterator[str]:
    """One line for each model, and what it was asked for besides talking."""
    for model in dict.fromkeys(each.model for each in totals):
        of_model = [each for each in totals if each.model == model]
        kinds = [each.kind for each in of_model if each.kind not in ("chat", VOICE)]
        also = (
            _(" (also {kinds})").format(kinds=listed(_(_KINDS.get(kind, kind)) for kind in kinds))
            if kinds
            else ""
        )
        yield f"`{model}`: {usage_line(of_model)}{also}"


def cost_words(totals: Sequence[UsageTotal]) -> str:
    unknown = sum(each.unknown_costs for each in totals)
    if unknown and unknown == sum(each.answers for each in totals):
        return _("cost unknown")
    cost = sum(each.cost_nanos for each in totals) / NANOS
    known = f"${cost:.2f}" if cost >= 1 or not cost else f"${cost:.4f}"
    told = _("{cost} and {count} of unknown cost")
    return told.format(cost=known, count=unknown) if unknown else known


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
