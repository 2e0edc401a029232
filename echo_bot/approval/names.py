"""A person as people know them: the name they chose, with the identity that counts."""

from __future__ import annotations

import unicodedata

_MOST_CHARACTERS = 40
_PARENTHESES = {"(": "[", ")": "]"}


def named(identity: str, name: str) -> str:
    """`Ada (discord:1576)`, or the identity alone; neither masked nor escaped.

    A name may be anything. It is cut to 40 characters and holds no parentheses, so that the only ones are
    around the identity: nobody is named "Ada (discord:1576)".
    """
    shown = display_name("".join(map(_plain, " ".join(name.split()))))
    return f"{shown} ({identity})" if shown not in ("", identity) else identity


def display_name(name: str) -> str:
    """The name, cut to 40 characters; neither masked nor escaped."""
    return name if len(name) <= _MOST_CHARACTERS else f"{name[: _MOST_CHARACTERS - 1]}…"


def _plain(char: str) -> str:
    """The character, or a bracket for whatever looks like a parenthesis."""
    looks = unicodedata.normalize("NFKC", char)
    return next((_PARENTHESES[each] for each in looks if each in _PARENTHESES), char)
