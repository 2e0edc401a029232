"""A copy of a text in plain letters, and the way back: full-width and invisible characters hide nothing."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Folded:
    """`text` without format characters, compatibility letters replaced; `origin[i]` is where letter i was."""

    text: str
    origin: tuple[int, ...]

    def back(self, span: Span) -> Span:
        """The span in the original text, invisible characters inside it included."""
        start, end = span
        return self.origin[start], self.origin[end - 1] + 1


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
