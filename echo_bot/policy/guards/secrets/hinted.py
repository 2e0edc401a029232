"""Patterns that need a certain word: one pass over a text finds which of them can match it at all."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from echo_bot.policy.guards.secrets.words import Words


@dataclass(frozen=True, slots=True, eq=False)
class Hinted:
    """`pattern` never matches where none of `hints` stands; they are in lower case, whatever it matches."""

    pattern: re.Pattern[str]
    hints: tuple[str, ...]


def hinted(pattern: str, hints: str) -> Hinted:
    """`hints` are separated by bars."""
    return Hinted(re.compile(pattern), tuple(hints.split("|")))


class Spotter:
    """Looks for the hints of many patterns at once: an ordinary text is then read by few of them."""

    def __init__(self, patterns: Iterable[Hinted]) -> None:
        self.patterns = tuple(patterns)
        by_hint: dict[str, tuple[Hinted, ...]] = {}
        for each in self.patterns:
            for hint in each.hints:
                by_hint[hint] = (*by_hint.get(hint, ()), each)
        self._hints = Words(by_hint)

    def possible(self, lower: str) -> frozenset[Hinted]:
        """Those that may match the text whose lower case this is."""
        return frozenset().union(*self._hints.about(lower))
