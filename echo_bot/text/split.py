"""Splitting a long text into messages: within the limit, always advancing, code fences closed and reopened.

A cut inside a fence ends the part with a closing line and starts the next with an opening one. A closing
line with one blank after it says that the cut fell inside a line. `join_parts` takes these lines out again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from echo_bot.channel import LengthUnit
from echo_bot.text.measure import measure, reach, spare_grapheme

_FENCE_LINE = re.compile(r"^[ \t]*+(`{3,}+|~{3,}+)([^\n]*+)\n", re.MULTILINE)
_INSERTED_END = re.compile(r"\n(`{3,}|~{3,})( ?)\Z")
_TAG = re.compile(r"[\w+#.-]{1,20}")
_LONGEST_FRAME = 80
_LEAST_BODY = 8


@dataclass(frozen=True, slots=True)
class _Fence:
    """An open code fence: its run of marks, its language, and where its opening line starts."""

    marks: str
    tag: str
    start: int

    @property
    def opening(self) -> str:
        return f"{self.marks}{self.tag}\n"

    def fits(self, limit: int) -> bool:
        """Does a part of `limit` still hold some text beside the inserted lines?"""
        return max(len(self.opening), len(self.marks) + 2) <= min(_LONGEST_FRAME, (limit - _LEAST_BODY) // 2)


def split_markdown(source: str, limit: int, unit: LengthUnit) -> tuple[str, ...]:
    """Parts of `source`, each at most `limit` long. Raises ValueError for a limit under 2."""
    return _split(source, limit, unit, with_fences=True)


def split_plain(source: str, limit: int, unit: LengthUnit) -> tuple[str, ...]:
    """Like `split_markdown` for literal text: nothing is inserted, the parts joined are the source."""
    return _split(source, limit, unit, with_fences=False)


def join_parts(parts: Sequence[str]) -> str:
    """The source of the parts that `split_markdown` made."""
    if not parts:
        return ""
    pieces: list[str] = []
    rest = parts[0]
    for following in parts[1:]:
        body, inserted = _seam(rest, following)
        pieces.append(body)
        rest = following[inserted:]
    return "".join([*pieces, rest])


def _seam(part: str, following: str) -> tuple[str, int]:
    """The part without an inserted end, and the length of the inserted start of the following part."""
    end = _INSERTED_END.search(part, max(0, len(part) - _LONGEST_FRAME - 2))
    if end is None:
        return part, 0
    start = re.match(rf"{end[1]}(?!{end[1][0]})[^\n]*\n", following)
    if start is None:
        return part, 0
    return part[: end.start()] + ("" if end[2] else "\n"), start.end()


def _split(source: str, limit: int, unit: LengthUnit, *, with_fences: bool) -> tuple[str, ...]:
    if limit < 2:
        raise ValueError(f"a message limit of {limit} leaves no room for text")
    parts: list[str] = []
    place = 0
    fence: _Fence | None = None
    while place < len(source):
        opening = fence.opening if fence and fence.fits(limit) else ""
        room = limit - measure(opening, unit)
        if reach(source, place, room, unit) == len(source):
            parts.append(opening + source[place:])
            break
        cut, fence = _cut(source, place, fence, room, limit, unit, with_fences)
        body = source[place:cut]
        parts.append(opening + (_closed(body, fence) if fence and fence.fits(limit) else body))
        place = cut
    return tuple(parts)


def _cut(
    source: str, place: int, fence: _Fence | None, room: int, limit: int, unit: LengthUnit, with_fences: bool
) -> tuple[int, _Fence | None]:
    """Where the part that starts at `place` ends, and the fence that is open there."""
    reserved = 0
    while True:
        end = reach(source, place, room - reserved, unit)
        cut = _good_place(source, place, end, in_code=reserved > 0)
        open_fence = _fence_at(source, place, fence, cut) if with_fences else None
        if open_fence and place < open_fence.start and source.find("\n", open_fence.start) + 1 == cut:
            cut, open_fence = open_fence.start, None
        if open_fence is None or not open_fence.fits(limit):
            return (_without_false_seam(source, place, cut) if with_fences else cut), open_fence
        needed = len(open_fence.marks) + 2
        if needed <= reserved:
            return cut, open_fence
        reserved = needed


def _fence_at(source: str, place: int, fence: _Fence | None, cut: int) -> _Fence | None:
    """The fence that is open at `cut`, `fence` being open at `place`. A line counts once it is complete."""
    if source.find("\n", place, cut) < 0:
        return fence
    line_start = source.rfind("\n", 0, place) + 1
    for line in _FENCE_LINE.finditer(source, line_start, cut):
        marks, info = line[1], line[2].strip()
        if fence is None:
            if marks[0] == "~" or "`" not in info:
                tag = _TAG.match(info)
                fence = _Fence(marks, tag[0] if tag else "", line.start())
        elif marks.startswith(fence.marks) and not info:
            fence = None
    return fence


def _good_place(source: str, place: int, end: int, *, in_code: bool) -> int:
    """The best end of a part in (place, end]: after a paragraph, a line, a sentence, a word, a grapheme."""
    half = place + (end - place) // 2
    separators = ("\n",) if in_code else ("\n\n", "\n", ". ", "。", " ")
    for separator in separators:
        found = source.rfind(separator, half, end)
        if found >= 0:
            return found + len(separator)
    return spare_grapheme(source, place, end)


def _closed(body: str, fence: _Fence) -> str:
    if body.endswith("\n"):
        return f"{body}{fence.marks}"
    return f"{body}\n{fence.marks} "


def _without_false_seam(source: str, place: int, cut: int) -> int:
    """`cut`, or the place before a run of fence marks that would look like an inserted pair of lines."""
    looks_closed = _INSERTED_END.search(source, max(place, cut - _LONGEST_FRAME - 2), cut)
    if looks_closed and source.startswith(looks_closed[1], cut):
        return looks_closed.start() + 1
    return cut
