"""Code fences that their content cannot break."""

from __future__ import annotations

import re

_BACKTICKS = re.compile(r"`+")


def fence(text: str, language: str = "") -> str:
    """`text` in a fence longer than any run of backticks inside it."""
    marks = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    return f"{marks}{language}\n{text.rstrip()}\n{marks}"
