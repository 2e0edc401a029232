"""Is there anything to see in a text? Platforms refuse a message that shows nothing."""

from __future__ import annotations

import unicodedata

_BLANK_CATEGORIES = frozenset(("Cc", "Cf", "Zl", "Zp", "Zs"))
_BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")


def is_blank(text: str) -> bool:
    """Does the text hold nothing but blanks and characters that show nothing?"""
    return not any(map(_is_seen, text))


def _is_seen(char: str) -> bool:
    if char in _BLANK_LETTERS or "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef":
        return False
    return unicodedata.category(char) not in _BLANK_CATEGORIES
