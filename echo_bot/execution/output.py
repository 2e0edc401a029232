"""Output as people and models read it: valid text without terminal codes, in bounded memory."""

from __future__ import annotations

import codecs
import re
from collections import deque

_CODE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC: titles, links
    r"|\x1b[PX^_][^\x1b]*\x1b\\"  # DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-OQ-WYZ\\`-~]"  # two-character codes
    r"|(?P<unfinished>\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\Z)"
)
"""A terminal code; at the end of a piece also what may still become one."""

_CONTROLS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)))
_ASCII_CONTROLS = bytes(code for code in _CONTROLS if code < 128)
_MAX_HELD_CHARS = 4096
_FLOOD_FACTOR = 100
"""A long log of which the ends are kept is work; what never ends is not."""


class TextStream:
    """Bytes in, clean text out; characters and codes may be split anywhere. Invalid UTF-8 becomes U+FFFD."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._half_line_end = ""

    def feed(self, data: bytes, *, final: bool = False) -> str:
        text, self._held = self._held + self._decoder.decode(data, final), ""

        def drop(match: re.Match[str]) -> str:
            if match["unfinished"] is None:
                return ""
            if final or len(match[0]) > _MAX_HELD_CHARS:
                return match[0]
            self._held = match[0]
            return ""

        if "\x1b" in text:
            text = _CODE.sub(drop, text)
        text = self._half_line_end + text
        self._half_line_end = "\r" if text.endswith("\r") and not final else ""
        text = text.removesuffix(self._half_line_end)
        return _without_controls(text.replace("\r\n", "\n").replace("\r", "\n"))


def _without_controls(text: str) -> str:
    """Most output is ASCII, of which bytes are dropped ten times as fast."""
    if text.isascii():
        return text.encode("ascii").translate(None, _ASCII_CONTROLS).decode("ascii")
    return text.translate(_CONTROLS)


class BoundedText:
    """The first half and the last half of `max_chars` of what was added; the middle is counted."""

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        self._head_room = max_chars - max_chars // 2
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._tail_chars = 0
        self.total_chars = 0
        self.dropped_chars = 0

    @property
    def is_flooded(self) -> bool:
        """So much more than can be kept that going on serves nobody."""
        return self.total_chars > self._max_chars * _FLOOD_FACTOR

    def add(self, text: str) -> None:
        self.total_chars += len(text)
        if self._head_room and text:
            self._head.append(text[: self._head_room])
            text, self._head_room = text[self._head_room :], max(0, self._head_room - len(text))
        if text:
            self._tail.append(text)
            self._tail_chars += len(text)
            self._trim()

    def text(self) -> str:
        middle = f"\n[… {self.dropped_chars} characters left out …]\n" if self.dropped_chars else ""
        return "".join(self._head) + middle + "".join(self._tail)

    def _trim(self) -> None:
        surplus = self._tail_chars - self._max_chars // 2
        while surplus > 0:
            first = self._tail.popleft()
            if len(first) > surplus:
                self._tail.appendleft(first[surplus:])
            cut = min(len(first), surplus)
            self.dropped_chars += cut
            self._tail_chars -= cut
            surplus -= cut
