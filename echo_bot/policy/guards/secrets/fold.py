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

_SPELT_IN_PERCENTS = re.compile(r"(?:%(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])){4}")
"""Letters and digits, which nobody has to encode."""

_SPECIAL = re.compile(
    r"[^\x00-\x7f]|%(?P<code>2[dD]|3[0-9]|[46][1-9A-Fa-f]|5[0-9AaFf]|7[0-9Aa])"
    r"|\x1b\[[0-9;]*[A-Za-z]|\\\n[ \t]*"
)
"""Letters beyond ASCII, encoded ones, colours of a terminal, the end of a line that goes on in the next."""


@dataclass(frozen=True, slots=True)
class Folded:
    """`text` in plain letters, the unseen left out; letter i stood from `origin[i]` to `ends[i]`."""

    text: str
    origin: tuple[int, ...]
    ends: tuple[int, ...]

    def back(self, span: Span) -> Span:
        """The span in the original text, invisible characters inside it included."""
        start, end = span
        return self.origin[start], self.ends[end - 1]


def is_disguised(text: str) -> bool:
    """Would folding change anything that matters?"""
    if "\x1b" in text or "\\\n" in text or ("%" in text and _SPELT_IN_PERCENTS.search(text) is not None):
        return True
    return not text.isascii() and (
        _UNSEEN.search(text) is not None or unicodedata.normalize("NFKC", text) != text
    )


def fold(text: str) -> Folded:
    letters: list[str] = []
    origin: list[int] = []
    ends: list[int] = []
    done = 0
    for found in _SPECIAL.finditer(text):
        start, end = found.span()
        plain = _plain(found)
        letters += (text[done:start], plain)
        origin += (*range(done, start), *[start] * len(plain))
        ends += (*range(done + 1, start + 1), *[end] * len(plain))
        done = end
    letters.append(text[done:])
    origin += range(done, len(text))
    ends += range(done + 1, len(text) + 1)
    return Folded("".join(letters), tuple(origin), tuple(ends))


def _plain(found: re.Match[str]) -> str:
    if found["code"]:
        return chr(int(found["code"], 16))
    char = found[0]
    if len(char) > 1 or unicodedata.category(char) == "Cf" or char in "\u034f\u3164\uffa0\u115f\u1160":
        return ""
    normal = unicodedata.normalize("NFKC", char)
    return normal if normal.isascii() else char


def lower_ascii(text: str) -> str:
    """`text` with A-Z in lower case and nothing else changed, so that every place stays the same."""
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
