"""Characters that cannot be seen or that reorder a line: refused on sight in the raw text, with the place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from echo_bot.policy.decision import Finding, Verdict

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_INVISIBLE_LETTERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2028\u2029\u2800\u3164\uffa0"
)
_VISIBLE_CONTROLS = frozenset("\t\n\r")
_EMOJI_STYLE = "\ufe0f"
_KEYCAP = "\u20e3"
_EMOJI_BASES = frozenset("\u203c\u2049\u3030\u303d")
_SUSPECT = re.compile(r"[^\t\n\r -~\u00a0-\u00ac\u00ae-\u02ff\u4e00-\u9fff]")


def blocked_characters(text: str, field: str) -> Iterator[Finding]:
    """One finding for each blocked code point, at its first place."""
    seen: set[str] = set()
    for found in _SUSPECT.finditer(text):
        char, place = found[0], found.start()
        if char in seen or not _is_blocked(text, place):
            continue
        seen.add(char)
        kind = "bidi" if char in _BIDI else "invisible"
        yield Finding(kind, Verdict.DENY, _sentence(char, place, kind), field, (place, place + 1))


def _is_blocked(text: str, place: int) -> bool:
    char = text[place]
    if char == _EMOJI_STYLE:
        return not _follows_emoji(text, place)
    if char in _INVISIBLE_LETTERS or "\ufe00" <= char <= "\ufe0e" or "\U000e0100" <= char <= "\U000e01ef":
        return True
    category = unicodedata.category(char)
    return category in ("Cf", "Cs", "Co") or (category == "Cc" and char not in _VISIBLE_CONTROLS)


def _follows_emoji(text: str, place: int) -> bool:
    """Is the emoji-style selector where it belongs: right after an emoji, or inside a keycap?"""
    if place == 0:
        return False
    base = text[place - 1]
    if base in "0123456789#*":
        return text[place + 1 : place + 2] == _KEYCAP
    return base in _EMOJI_BASES or unicodedata.category(base) in ("So", "Sm")


def _sentence(char: str, place: int, kind: str) -> str:
    name = unicodedata.name(char, "a character without a name").lower()
    what = "reorders the line" if kind == "bidi" else "cannot be seen"
    return f"U+{ord(char):04X} ({name}) at position {place} {what}: write the text again without it."
