"""A person as people know them: the name they chose, with the identity that counts."""

from __future__ import annotations

import unicodedata

_MOST_CHARACTERS = 40
_HARMLESS = {"(": "[", ")": "]", "<": "‹", ">": "›", "`": "'"}


def named(identity: str, name: str) -> str:
    """`Ada (discord:1576)`, or the identity alone; neither masked nor escaped.

    A name may be anything. It is cut to 40 characters and holds no parentheses, so that the only ones are
    around the identity: nobody is named "Ada (discord:1576)". Nor does it hold what makes a link, a mention
    or code where the sentence around it is formatted.
    """
    shown = display_name("".join(map(_plain, " ".join(name.split()))))
    return f"{shown} ({identity})" if shown not in ("", identity) else identity


def display_name(name: str) -> str:
    """The name, cut to 40 characters; neither masked nor escaped."""
    return name if len(name) <= _MOST_CHARACTERS else f"{name[: _MOST_CHARACTERS - 1]}…"


def _plain(char: str) -> str:
    """The character, or a harmless one for whatever looks like one of those."""
    looks = unicodedata.normalize("NFKC", char)
    return next((_HARMLESS[each] for each in looks if each in _HARMLESS), char)
