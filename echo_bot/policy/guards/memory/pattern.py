"""A pattern of the memory scan with the texts that prove it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Pattern:
    """`expression` is searched in a folded copy; `match` and `no_match` are checked by a test."""

    expression: str
    match: tuple[str, ...]
    no_match: tuple[str, ...] = ()
    compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "compiled", re.compile(self.expression))
