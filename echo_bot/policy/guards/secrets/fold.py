"""A copy of a text in plain letters, and the way back: full-width and invisible characters hide nothing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

Span = tuple[int, int]

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True, slots=True)
class Folded:
    """`text` without format characters, compatibility letters replaced; `origin[i]` is where letter i was."""

    text: str
    origin: tuple[int, ...]

    def back(self, span: Span) -> Span:
        """The span in the original text, invisible characters inside it included."""
        start, end = span
        return self.origin[start], self.origin[end - 1] + 1


def is_disguised(text: str) -> bool:
    """Would folding change anything that matters?"""
    return not text.isascii() and (
        _UNSEEN.search(text) is not None or unicodedata.normalize("NFKC", text) != text
    )


def fold(text: str) -> Folded:
    letters: list[str] = []
    origin: list[int] = []
    for place, char in enumerate(text):
        plain = char if char < "\x80" else _plain(char)
        letters.append(plain)
        origin.extend([place] * len(plain))
    return Folded("".join(letters), tuple(origin))


def _plain(char: str) -> str:
    if unicodedata.category(char) == "Cf" or char in "\u034f\u3164\uffa0\u115f\u1160":
        return ""
    normal = unicodedata.normalize("NFKC", char)
    return normal if normal.isascii() else char


def lower_ascii(text: str) -> str:
    """`text` with A-Z in lower case and nothing else changed, so that every place stays the same."""
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
