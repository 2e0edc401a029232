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
    shown = "".join(map(_plain, " ".join(name.split())))
    if len(shown) > _MOST_CHARACTERS:
        shown = f"{shown[: _MOST_CHARACTERS - 1]}…"
    return f"{shown} ({identity})" if shown not in ("", identity) else identity


def _plain(char: str) -> str:
    """The character, or a harmless one for whatever looks like one of those."""
    looks = unicodedata.normalize("NFKC", char)
    return next((_HARMLESS[each] for each in looks if each in _HARMLESS), char)
