r"""Text that cannot command the terminal: controls, escapes and direction marks are written out as \u{1B}."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style

_LINE_BREAKS = re.compile(r"\r\n|\r|\x0b|\x0c|\x85|\u2028|\u2029")
_COMMANDING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and newline, DEL, C1
    r"\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Besides controls: direction marks, separators, invisible characters, lone surrogates, tag letters.

The joiners U+200C and U+200D stay: scripts and emoji are written with them.
"""


def clean(text: str) -> str:
    """`text` with every kind of line break as a newline and everything that commands written out."""
    return escape(_LINE_BREAKS.sub("\n", text))


def clean_line(text: str) -> str:
    """`clean` for one line: line breaks become spaces."""
    return " ".join(clean(text).split("\n"))


def escape(text: str) -> str:
    return _COMMANDING.sub(lambda found: f"\\u{{{ord(found[0]):X}}}", text)


class Cleaned:
    """Shows a renderable with every piece of its text escaped, whatever a Markdown parser decoded into it.

    Links and control segments are dropped, and blanks at line ends, so that a narrowed window stays tidy.
    """

    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        pieces = (
            Segment(_escape_piece(text), _unlinked(style))
            for text, style, control in console.render(self._renderable, options)
            if not control
        )
        for line in Segment.split_lines(pieces):
            yield from _without_trailing_blanks(line)
            yield Segment.line()


def _escape_piece(text: str) -> str:
    return escape(text.replace("\t", "    "))


def _unlinked(style: Style | None) -> Style | None:
    return style.update_link(None) if style is not None and style.link else style


def _without_trailing_blanks(line: Iterable[Segment]) -> list[Segment]:
    kept = list(line)
    while kept and not kept[-1].text.strip(" "):
        kept.pop()
    if kept:
        kept[-1] = Segment(kept[-1].text.rstrip(" "), kept[-1].style)
    return kept
