"""How the answers of commands write ids and other people's words."""

from __future__ import annotations

import re
from datetime import datetime

from echo_bot.approval.escape import escape_line


def literal(text: str) -> str:
    """One line in a code span: what a model or a person wrote cannot look like a line of ours."""
    line = escape_line(text)
    marks = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    return f"{marks} {line} {marks}" if "`" in line else f"`{line}`"


def utc_minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def first_word(text: str) -> tuple[str, str]:
    word, rest = (*text.split(None, 1), "", "")[:2]
    return word, rest.strip()
