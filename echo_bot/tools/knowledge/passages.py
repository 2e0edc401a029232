"""A document cut into passages: whole paragraphs where they fit, with the lines they came from."""

from __future__ import annotations

import re
from collections.abc import Iterator

from echo_bot.storage.knowledge import Passage
from echo_bot.tools.knowledge.markup import text_of_html

_HEADING = re.compile(r"#{1,6} ")
_HTML = (".html", ".htm", ".xhtml")


def passages_of(path: str, text: str, chunk_chars: int) -> Iterator[Passage]:
    """The passages of a document, each of at most `chunk_chars` characters, in order, none blank.

    Together they hold every line of the text that is not blank; of HTML, of what a browser would show.
    """
    if path.lower().endswith(_HTML):
        text = text_of_html(text)
    block: list[str] = []
    first, size, is_blank = 1, 0, True
    for number, line in enumerate(_lines(text), start=1):
        begins_section = not is_blank and _HEADING.match(line) is not None
        if begins_section or (block and size + len(line) > chunk_chars):
            kept = 0 if begins_section else _rest(block, len(line), chunk_chars)
            yield from _passage(path, first, block[: len(block) - kept], chunk_chars)
            block, first = block[len(block) - kept :], number - kept
            size, is_blank = _size(block), not block
        block.append(line)
        size, is_blank = size + len(line) + 1, is_blank and not line.strip()
    yield from _passage(path, first, block, chunk_chars)


def _lines(text: str) -> list[str]:
    """As read_file counts them."""
    return [line.rstrip("\r") for line in text.removeprefix("\ufeff").split("\n")]


def _size(block: list[str]) -> int:
    return sum(len(line) + 1 for line in block)


def _rest(block: list[str], coming: int, chunk_chars: int) -> int:
    """How many lines at the end stay for the next passage: the paragraph that has begun, if it is short."""
    for kept in range(1, len(block)):
        if not block[-kept].strip():
            rest = block[len(block) - kept + 1 :]
            return len(rest) if _size(rest) + coming <= chunk_chars // 2 else 0
    return 0


def _passage(path: str, first: int, block: list[str], chunk_chars: int) -> Iterator[Passage]:
    filled = [index for index, line in enumerate(block) if line.strip()]
    if not filled:
        return
    start, end = filled[0], filled[-1]
    text = "\n".join(block[start : end + 1])
    for cut in range(0, len(text), chunk_chars):
        piece = text[cut : cut + chunk_chars]
        if piece.strip():
            yield Passage(path, first + start, first + end, piece)
