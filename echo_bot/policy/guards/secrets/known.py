"""The configured secret values in every form in which they may turn up in a text."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

_SHORTEST = 4
"""Shorter values would blank out ordinary words everywhere."""

_SHORTEST_ANYWHERE = 8
"""Values below this length are masked only where they stand alone."""

_SHORTEST_LINE = 20


def known_pattern(values: Iterable[str]) -> re.Pattern[str] | None:
    """One pattern for all forms of all values, longest first; None when there is nothing to look for."""
    forms = {form for value in values for form in _forms(value)}
    if not forms:
        return None
    return re.compile("|".join(_guarded(form) for form in sorted(forms, key=lambda f: (-len(f), f))))


def _guarded(form: str) -> str:
    pattern = re.escape(form)
    if len(form) >= _SHORTEST_ANYWHERE:
        return pattern
    return rf"(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9])"


def _forms(value: str) -> Iterator[str]:
    bare = value.strip()
    if len(bare) < _SHORTEST:
        return
    yield bare
    yield from {quote(bare, safe=""), quote(bare), quote_plus(bare)}
    yield re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), quote(bare, safe=""))
    for ascii_only in (True, False):
        yield json.dumps(bare, ensure_ascii=ascii_only)[1:-1]
    if len(bare) >= _SHORTEST_ANYWHERE:
        yield from _base64_forms(bare.encode("utf-8", "surrogatepass"))
    if "\n" in bare:
        yield from (line for line in map(str.strip, bare.split("\n")) if len(line) >= _SHORTEST_LINE)


def _base64_forms(raw: bytes) -> Iterator[str]:
    """What of the encoding stays the same whatever stands before and after, at each of three alignments."""
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        first = (shift * 8 + 5) // 6
        last = (shift + len(raw)) * 8 // 6
        stable = encoded[first:last]
        yield stable
        yield stable.translate(str.maketrans("+/", "-_"))
