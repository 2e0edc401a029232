"""Marks inside resolved words: lone surrogates, which no valid text holds, for what is not plain text."""

from __future__ import annotations

import re

UNKNOWN = "\ud800"
"""Any text at all, of any length."""
GLOB_STAR = "\ud801"
GLOB_ANY = "\ud802"
GLOB_SET = "\ud803"
"""The `[` of an active character set."""
HOME = "\ud804"
"""The caller's home folder, as written `~` or `$HOME`."""
UNKNOWN_FIELDS = "\ud805"
"""Any number of words: an unquoted expansion that is not known."""
ITEM = "\ud806"
"""What stands before each value of `name=( … )` given to declare."""

_MARKS = re.compile("[\ud800-\udfff]")
_OPEN = re.compile(f"[{UNKNOWN}{UNKNOWN_FIELDS}]")
_GLOBS = re.compile(f"[{GLOB_STAR}{GLOB_ANY}{GLOB_SET}]")
_TO_GLOB = str.maketrans({"*": GLOB_STAR, "?": GLOB_ANY, "[": GLOB_SET})
_FROM_GLOB = str.maketrans({GLOB_STAR: "*", GLOB_ANY: "?", GLOB_SET: "["})
_GLOB_CHARACTERS = re.compile(r"[*?\[]")


def cleaned(text: str) -> str:
    """A text from outside, without anything that could be taken for a mark."""
    return _MARKS.sub("\ufffd", text) if not text.isascii() else text


def is_open(value: str) -> bool:
    """True when a part of the value is not known."""
    return not value.isascii() and _OPEN.search(value) is not None


def has_glob(value: str) -> bool:
    return not value.isascii() and _GLOBS.search(value) is not None


def is_plain(value: str) -> bool:
    """True for a value without any mark but the home folder's."""
    return value.isascii() or _MARKS.search(value.replace(HOME, "")) is None


def globbed(text: str) -> str:
    """Unquoted text: its glob characters are active."""
    return text.translate(_TO_GLOB) if _GLOB_CHARACTERS.search(text) else text


def unglobbed(value: str) -> str:
    """Glob marks written as the characters they came from."""
    return value.translate(_FROM_GLOB) if has_glob(value) else value


def collapsed(value: str) -> str:
    """One unknown piece for several in a row."""
    while UNKNOWN + UNKNOWN in value:
        value = value.replace(UNKNOWN + UNKNOWN, UNKNOWN)
    return value


def shown(value: str, home: str) -> str:
    """The value as text for another program; what is not known stays marked."""
    return value if value.isascii() else unglobbed(value).replace(HOME, home)
