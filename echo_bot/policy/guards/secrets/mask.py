"""The one choke point through which text passes before a chat, a log, the audit or a listing shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from echo_bot.policy.guards.secrets.fold import Span, fold, is_disguised
from echo_bot.policy.guards.secrets.known import KnownValues
from echo_bot.policy.guards.secrets.shapes import secret_spans

MASK = "[secret-masked]"
"""What stands where a secret stood. A write that holds it is refused: it was copied from a masked text."""


class SecretMask:
    """Masks the values it knows and what looks like a secret. Immutable; compiled once."""

    __slots__ = ("_known",)

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = KnownValues(tuple(known))

    def mask(self, text: str) -> str:
        """`text` with known values and secret shapes masked; key names, hosts and flags stay."""
        return self._masked(text, shapes=True)

    def mask_known(self, text: str) -> str:
        """`text` with known values masked: for the model's own copy of a file."""
        return self._masked(text, shapes=False)

    def _masked(self, text: str, *, shapes: bool) -> str:
        spans = list(self._spans(text, shapes))
        if is_disguised(text):
            folded = fold(text)
            spans.extend(folded.back(span) for span in self._spans(folded.text, shapes))
        return _replaced(text, spans) if spans else text

    def _spans(self, text: str, shapes: bool) -> Iterator[Span]:
        yield from self._known.spans(text)
        if shapes:
            yield from secret_spans(text)


def _replaced(text: str, spans: list[Span]) -> str:
    pieces: list[str] = []
    done = 0
    for start, end in _merged(sorted(spans)):
        pieces += (text[done:start], MASK)
        done = end
    return "".join([*pieces, text[done:]])


def _merged(spans: list[Span]) -> Iterator[Span]:
    """Overlapping spans as one; spans that only touch stay two."""
    start, end = spans[0]
    for next_start, next_end in spans[1:]:
        if next_start < end:
            end = max(end, next_end)
        else:
            yield start, end
            start, end = next_start, next_end
    yield start, end
