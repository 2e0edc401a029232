"""Long text worked on in pieces, so that no single step holds everybody else up."""

from __future__ import annotations

from collections.abc import Callable, Iterator

PIECE_CHARS = 65_536
"""About what a mask reads in a hundredth of a second."""


def in_pieces(text: str, work: Callable[[str], str]) -> str:
    """`work` done to pieces of the text that end where lines end, where lines are short enough."""
    if len(text) <= PIECE_CHARS:
        return work(text)
    return "".join(map(work, pieces(text)))


def pieces(text: str, most: int = PIECE_CHARS) -> Iterator[str]:
    """The text in order, in pieces of at most `most` characters, cut at a line end in their second half."""
    start = 0
    while len(text) - start > most:
        line_end = text.rfind("\n", start + most // 2, start + most) + 1
        end = line_end or start + most
        yield text[start:end]
        start = end
    yield text[start:]
