"""A page of a text file: numbered lines within a budget of characters, read as a stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import BinaryIO

LINE_CHARS = 2000
_READ_BYTES = 1 << 20
_LINE_BYTES = LINE_CHARS * 4
_SNIFFED_BYTES = 8192
_COUNTED_BYTES = 1 << 30


@dataclass(slots=True)
class Page:
    """Lines `first` to `last` of `total`; `is_counted` is False when the file is too long to count."""

    lines: list[str] = field(default_factory=list)
    first: int = 1
    last: int = 0
    total: int = 0
    is_counted: bool = True


def is_binary(start: bytes) -> bool:
    """A NUL byte near the start: no text in an encoding we show."""
    return b"\0" in start


def read_start(file: BinaryIO) -> bytes:
    """The first bytes, for `is_binary`; the position goes back to the start."""
    start = file.read(_SNIFFED_BYTES)
    file.seek(0)
    return start


def read_page(file: BinaryIO, first: int, limit: int, max_chars: int) -> Page:
    """Lines from `first` on: at most `limit` (0: no limit) and `max_chars`, but one if there is one."""
    page = Page(first=first)
    number, budget, is_open = 0, max_chars, True
    while is_open and (raw := file.readline(_LINE_BYTES)):
        number += 1
        length = len(raw) + _skip_line(file, raw)
        if number < first:
            continue
        text = numbered(number, raw, length)
        budget -= len(text) + 1
        is_open = not page.lines or (budget >= 0 and (limit == 0 or len(page.lines) < limit))
        if is_open:
            page.lines.append(text)
            page.last = number
    rest, page.is_counted = _count_lines(file)
    page.total = number + rest
    return page


def numbered(number: int, raw: bytes, length: int = 0) -> str:
    """One line as tools show it; a long one is cut and says so. `length`: its bytes, where `raw` is less."""
    text = raw.decode("utf-8", "replace").rstrip("\r\n")
    if number == 1:
        text = text.removeprefix("\ufeff")
    if len(text) > LINE_CHARS or length > len(raw):
        text = f"{text[:LINE_CHARS]}… (the line has {max(length, len(raw)):,} bytes)"
    return f"{number:>6}\t{text}"


def _skip_line(file: BinaryIO, raw: bytes) -> int:
    """Pass over the rest of a line that `raw` began; returns its bytes."""
    skipped = 0
    while raw and not raw.endswith(b"\n"):
        raw = file.readline(_READ_BYTES)
        skipped += len(raw)
    return skipped


def _count_lines(file: BinaryIO) -> tuple[int, bool]:
    """Lines from here to the end, and whether the end was reached."""
    lines, read, last = 0, 0, b"\n"
    while chunk := file.read(_READ_BYTES):
        lines += chunk.count(b"\n")
        last, read = chunk[-1:], read + len(chunk)
        if read > _COUNTED_BYTES:
            return lines, False
    return lines + (last != b"\n"), True
