"""The configured secret values in every form in which they may turn up in a text."""

# ruff: noqa: E501 - a pattern is read as one line

from __future__ import annotations

import base64
import html
import json
import quopri
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

from echo_bot.policy.guards.secrets.fold import Span
from echo_bot.policy.guards.secrets.words import Words

_SHORTEST = 4
"""Shorter values would blank out ordinary words everywhere."""

_SHORTEST_ANYWHERE = 8
"""Values below this length are masked only where they stand alone."""

_SHORTEST_BROKEN = 12
"""Forms below this length are not looked for across line ends: lines of words would make them by chance."""

_SHORTEST_LINE = 20

_LINE_END = re.compile(r"(?P<real>\r?\n[ \t>|]*+)|\\r\\n|\\n")
_SOFT_END = ("=", "\\")
"""What stands before the end of a line that goes on in the next one."""

_SPELT_OUT = re.compile(r"(?<!\S)(?:\S[ \t]){7,}\S(?!\S)")
_SPELT_LETTERS = re.compile(r"[ \t]\S[ \t]\S[ \t]")
"""Found in whatever is spelt out, and much faster to look for."""

_ESCAPE = r"(?:%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\[0-7]{3}|&#[0-9]{1,7};|&#[xX][0-9A-Fa-f]{1,6};)"
_ESCAPED = re.compile(rf"(?:{_ESCAPE}){{4,}}+")
_ONE_ESCAPE = re.compile(_ESCAPE)
_ESCAPE_SIGNS = ("%", "\\", "&#")
_ALPHANUMERIC = re.compile(r"[A-Za-z0-9]")


class KnownValues:
    """Finds the values it was made with: as they are, encoded, escaped, broken over lines, spelt out."""

    __slots__ = ("_forms", "_values")

    def __init__(self, values: Iterable[str]) -> None:
        self._values = frozenset(bare for value in values if len(bare := value.strip()) >= _SHORTEST_ANYWHERE)
        self._forms = Words({form: None for value in values for form in _forms(value.strip())})

    def spans(self, text: str) -> Iterator[Span]:
        """Where a value stands, in no order, possibly overlapping."""
        if not self._forms:
            return
        for start, end, _ in self._forms.find(text):
            if end - start >= _SHORTEST_ANYWHERE or _stands_alone(text, start, end):
                yield start, end
        if "\n" in text or r"\n" in text:
            yield from _across_lines(text, self._forms)
        yield from self._escaped(text)
        if _SPELT_LETTERS.search(text):
            for run in _SPELT_OUT.finditer(text):
                if self._holds_value(run[0].replace(" ", "").replace("\t", "")):
                    yield run.span()

    def _escaped(self, text: str) -> Iterator[Span]:
        if not any(sign in text for sign in _ESCAPE_SIGNS):
            return
        for run in _ESCAPED.finditer(text):
            if self._holds_value(_unescaped(run[0])):
                yield run.span()

    def _holds_value(self, plain: str) -> bool:
        return any(value in plain or value.replace(" ", "") in plain for value in self._values)


def _stands_alone(text: str, start: int, end: int) -> bool:
    return not _ALPHANUMERIC.fullmatch(text[start - 1 : start]) and not _ALPHANUMERIC.fullmatch(
        text[end : end + 1]
    )


def _across_lines(text: str, forms: Words[None]) -> Iterator[Span]:
    """The spans of matches in the text with its line ends taken out."""
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    length = done = 0
    for found in (*_LINE_END.finditer(text), None):
        piece = text[done : found.start() if found else len(text)]
        if found is not None and found["real"]:
            piece = piece.rstrip(" \t")
            piece = piece[:-1] if piece.endswith(_SOFT_END) else piece
        pieces.append(piece)
        starts.append(length)
        origins.append(done)
        length += len(piece)
        done = found.end() if found else done
    if len(pieces) == 1:
        return
    for start, end, _ in forms.find("".join(pieces)):
        if end - start < _SHORTEST_BROKEN:
            continue
        first = bisect_right(starts, start) - 1
        last = bisect_right(starts, end - 1) - 1
        if first != last:
            yield origins[first] + start - starts[first], origins[last] + end - starts[last]


def _unescaped(run: str) -> str:
    raw = bytearray()
    for found in _ONE_ESCAPE.finditer(run):
        raw += _character(found[0])
    return raw.decode("utf-8", "replace")


def _character(escape: str) -> bytes:
    if escape.startswith("&"):
        return html.unescape(escape).encode("utf-8", "replace")
    if escape[1] == "u":
        return chr(int(escape[2:], 16)).encode("utf-8", "replace")
    if escape[0] == "%":
        return bytes((int(escape[1:], 16),))
    return bytes((int(escape[2:], 16),)) if escape[1] == "x" else bytes((int(escape[1:], 8) & 0xFF,))


def _forms(bare: str) -> Iterator[str]:
    if len(bare) < _SHORTEST:
        return
    yield bare
    yield from {quote(bare, safe=""), quote(bare), quote_plus(bare)}
    yield re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), quote(bare, safe=""))
    for ascii_only in (True, False):
        yield (encoded := json.dumps(bare, ensure_ascii=ascii_only)[1:-1])
        yield encoded.replace("/", "\\/")
        yield json.dumps(encoded, ensure_ascii=ascii_only)[1:-1]
    yield from {html.escape(bare), html.escape(bare, quote=False)}
    yield bare.replace("'", "'\\''")
    yield re.sub(r"([^\w@%+=:,./-])", r"\\\1", bare)
    yield re.sub(r"(\W)", r"\\\1", bare)
    if len(bare) >= _SHORTEST_ANYWHERE:
        raw = bare.encode("utf-8", "surrogatepass")
        yield from _base64_forms(raw)
        yield from _hex_forms(raw)
        yield quopri.encodestring(raw).decode().replace("=\n", "")
    if len(bare) >= _SHORTEST_BROKEN:
        yield bare[::-1]
    if "\n" in bare:
        yield from (line for line in map(str.strip, bare.split("\n")) if len(line) >= _SHORTEST_LINE)


def _hex_forms(raw: bytes) -> Iterator[str]:
    for digits in (f"{byte:02x}" for byte in raw), (f"{byte:02X}" for byte in raw):
        pairs = list(digits)
        for before, between in (
            ("", ""),
            ("", ":"),
            ("", " "),
            ("", "-"),
            ("\\x", ""),
            ("0x", ", "),
            ("0x", ","),
        ):
            yield between.join(before + pair for pair in pairs)
        yield " ".join("".join(pairs[at : at + 2]) for at in range(0, len(pairs), 2))


def _base64_forms(raw: bytes) -> Iterator[str]:
    """What of the encoding stays the same whatever stands before and after, at each of three alignments."""
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        first = (shift * 8 + 5) // 6
        last = (shift + len(raw)) * 8 // 6
        stable = encoded[first:last]
        yield stable
        yield stable.translate(str.maketrans("+/", "-_"))
