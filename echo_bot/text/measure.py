"""How long a text is for a platform, and where it may be cut."""

from __future__ import annotations

import unicodedata

from echo_bot.channel import LengthUnit

_ZWJ = "\u200d"
_LOOK_BACK = 32
"""How far a cut moves back to spare a grapheme; a longer cluster is cut, so that cutting stays linear."""


def measure(text: str, unit: LengthUnit) -> int:
    """The length of `text` in the platform's own unit."""
    if unit is LengthUnit.UTF16 and not text.isascii():
        return len(text) + sum(char > "\uffff" for char in text)
    return len(text)


def reach(text: str, start: int, limit: int, unit: LengthUnit) -> int:
    """The largest end for which `text[start:end]` measures at most `limit`."""
    end = min(len(text), start + limit)
    if unit is LengthUnit.UTF16:
        over = measure(text[start:end], unit) - limit
        while over > 0:
            end -= 1
            over -= 2 if text[end] > "\uffff" else 1
    return end


def spare_grapheme(text: str, start: int, cut: int) -> int:
    """`cut`, or a place shortly before it that does not divide what a person sees as one character."""
    lowest = max(start, cut - _LOOK_BACK)
    place = cut
    while place > lowest and _joins(text, place):
        place -= 1
    return place if place > lowest else cut


def _joins(text: str, place: int) -> bool:
    """Do the characters on both sides of `place` belong together?"""
    if place <= 0 or place >= len(text):
        return False
    before, after = text[place - 1], text[place]
    if before == "\r" and after == "\n":
        return True
    if before.isascii() and after.isascii():
        return False
    if after == _ZWJ or before == _ZWJ or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if _is_flag_letter(before) and _is_flag_letter(after):
        return _flag_letters_before(text, place) % 2 == 1
    return unicodedata.category(after) in ("Mn", "Me", "Mc")


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_letters_before(text: str, place: int) -> int:
    count = 0
    while count < _LOOK_BACK and place - count > 0 and _is_flag_letter(text[place - count - 1]):
        count += 1
    return count
