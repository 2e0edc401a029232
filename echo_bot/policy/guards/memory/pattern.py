"""A pattern of the memory scan with the texts that prove it."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pattern:
    """`expression` is searched in a folded copy; `match` and `no_match` are checked by a test."""

    expression: str
    match: tuple[str, ...]
    no_match: tuple[str, ...] = ()

    @property
    def compiled(self) -> re.Pattern[str]:
        """Compiled with the first text that is scanned: a bot that remembers nothing starts without it."""
        return _compiled(self.expression)


@functools.cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)
