"""Unified diffs for cards: of one file, in bounded time however large the change."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

CONTEXT = 3
MAX_COMPARED = 4_000_000
"""Old lines times new lines that are compared; beyond, the changed stretch is shown as replaced."""


def unified_diff(old: str | None, new: str | None, path: str, new_path: str = "") -> str:
    """As `diff -u` writes it. None: a side that is not there. Equal sides give "" unless the file moves."""
    moved = bool(new_path) and new_path != path
    if old == new and not moved:
        return ""
    head = [
        f"--- {'/dev/null' if old is None else f'a/{path}'}",
        f"+++ {'/dev/null' if new is None else f'b/{new_path or path}'}",
    ]
    return "\n".join([*head, *_hunks(_lines(old), _lines(new))]) + "\n"


def _lines(text: str | None) -> list[str]:
    """Lines without their newline; a last line that has none says so, as diff does."""
    if not text:
        return []
    lines = text.split("\n")
    if lines[-1] == "":
        return lines[:-1]
    lines[-1] += "\n\\ No newline at end of file"
    return lines


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    middle = (len(old) - start - end) * (len(new) - start - end)
    if middle <= MAX_COMPARED:
        first = max(0, start - CONTEXT)
        last_old, last_new = len(old) - end + CONTEXT, len(new) - end + CONTEXT
        groups = difflib.SequenceMatcher(None, old[first:last_old], new[first:last_new], autojunk=False)
        for group in groups.get_grouped_opcodes(CONTEXT):
            shifted = [(tag, a + first, b + first, c + first, d + first) for tag, a, b, c, d in group]
            yield from _hunk(old, new, shifted)
        return
    before, after = max(0, start - CONTEXT), min(CONTEXT, end)
    yield from _hunk(
        old,
        new,
        [
            ("equal", before, start, before, start),
            ("replace", start, len(old) - end, start, len(new) - end),
            ("equal", len(old) - end, len(old) - end + after, len(new) - end, len(new) - end + after),
        ],
    )


def _hunk(old: list[str], new: list[str], group: list[tuple[str, int, int, int, int]]) -> Iterator[str]:
    first, last = group[0], group[-1]
    yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
    for tag, old_from, old_to, new_from, new_to in group:
        if tag == "equal":
            yield from (f" {line}" for line in old[old_from:old_to])
            continue
        yield from (f"-{line}" for line in old[old_from:old_to])
        yield from (f"+{line}" for line in new[new_from:new_to])


def _range(start: int, end: int) -> str:
    length = end - start
    return f"{start + 1}" if length == 1 else f"{start + (length > 0)},{length}"


def _common(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
