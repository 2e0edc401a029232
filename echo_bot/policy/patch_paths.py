"""Which files a patch names: every path in a header of either form, so that each is judged before anything is written.

It may name one too many (a removed line can look like a header), never one too few.
"""

from __future__ import annotations

import re

_V4A = re.compile(r"\*\*\* (?:Add File|Update File|Delete File|Move to|Move File):\s*(?P<path>.+?)\s*")
_UNIFIED = re.compile(r"(?:\+\+\+|---) (?P<path>[^\t]+?)(?:\t.*)?\s*")
_GIT = re.compile(r"(?:rename|copy) (?:from|to) (?P<path>.+?)\s*")
_DIFF_GIT = re.compile(r"diff --git (?P<old>\"?a/.+?) (?P<new>\"?b/.+?)\s*")
_ABSENT = "/dev/null"


def patch_paths(patch: str) -> tuple[str, ...]:
    """The paths in order of appearance, each once, without the `a/` and `b/` that git puts before them."""
    found: dict[str, None] = {}
    for line in patch.splitlines():
        for path in _header_paths(line.strip("\r")):
            if path != _ABSENT:
                found[path] = None
    return tuple(found)


def _header_paths(line: str) -> tuple[str, ...]:
    if (git := _DIFF_GIT.fullmatch(line)) is not None:
        return _plain(git["old"]), _plain(git["new"])
    if (unified := _UNIFIED.fullmatch(line)) is not None:
        return (_plain(unified["path"]),)
    named = _V4A.fullmatch(line) or _GIT.fullmatch(line)
    return (named["path"],) if named else ()


def _plain(path: str) -> str:
    unquoted = path.strip('"')
    return unquoted[2:] if unquoted.startswith(("a/", "b/")) else unquoted
