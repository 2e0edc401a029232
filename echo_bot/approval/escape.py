r"""Text made honest for a card: what cannot be seen is written out as \u{202E}, padding as its length.

One to one: what the text itself holds of these marks is written out too, so no two texts look the same;
only what stands within a run of blank lines is told by their number alone.
"""

from __future__ import annotations

import re
import unicodedata

_HIDDEN_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f")
_HIDDEN_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"))

NEWLINE_MARK = "⏎"
_TAB_MARK = "⇥"
_SPACE_MARK = "␣"
_MOST_MARKS = 4
"""Combining marks on one letter beyond this number are written out: they could cover the lines around."""

_MOST_SPACES = 32
_MOST_BLANK_LINES = 2
_MOST_REPEATS = 3

_EDGE_SPACES = re.compile(r"\A +| +\Z")
_SPACES = re.compile(rf" {{{_MOST_SPACES + 1},}}")
_BLANK_LINES = re.compile(rf"(?:\A|\n)(?:[ \t]*+\n){{{_MOST_BLANK_LINES + 1},}}+")
_ESCAPE = rf"\\u\{{[0-9A-F]+\}}|{_TAB_MARK}"
_REPEATED_ESCAPE = re.compile(rf"({_ESCAPE})\1{{{_MOST_REPEATS},}}")
_TIMES_AFTER_ESCAPE = re.compile(rf"({_ESCAPE}|\n)×")
_PLAINLY_SEEN = r" -~\n\u00a1-\u00ac\u00ae-\u02ff\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff"
_MAYBE_HIDDEN = re.compile(f"[^{_PLAINLY_SEEN}]+")
_OWN_MARKS = re.compile(
    rf"\\(?=u\{{)|[{_TAB_MARK}{NEWLINE_MARK}{_SPACE_MARK}]|⟨(?=[0-9]+ (?:spaces|blank lines)⟩)"
)
"""What an escape, a mark or a length looks like, where the text itself holds it."""


def escape_line(text: str) -> str:
    """One line for a sentence or a field: line breaks become marks, so nothing imitates a card's line."""
    line = _escaped(_collapsed(text)).replace("\n", NEWLINE_MARK)
    return _EDGE_SPACES.sub(lambda run: _SPACE_MARK * len(run[0]), line)


def escape_block(text: str) -> str:
    """Code for a block of its own: line breaks stay, and each is marked where it breaks a line."""
    return _escaped(_collapsed(text)).replace("\n", f"{NEWLINE_MARK}\n")


def escape_lines(text: str) -> str:
    """A diff or a listing whose line breaks are its form: they stay unmarked."""
    return _escaped(_collapsed(text))


def is_hidden(char: str) -> bool:
    """Would a person not see this character, or see an ordinary blank in its place?"""
    if char == " ":
        return False
    if unicodedata.category(char) in _HIDDEN_CATEGORIES or char in _HIDDEN_LETTERS:
        return True
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def _collapsed(text: str) -> str:
    text = _OWN_MARKS.sub(lambda mark: f"\\u{{{ord(mark[0]):04X}}}", text)
    text = _BLANK_LINES.sub(_blank_lines, text)
    return _SPACES.sub(lambda run: f"⟨{len(run[0])} spaces⟩", text)


def _blank_lines(run: re.Match[str]) -> str:
    """The first line break ends a line of text, unless the text begins here; the others are blank lines."""
    breaks = run[0].count("\n")
    if run.start() == 0:
        return f"⟨{breaks} blank lines⟩\n"
    return f"\n⟨{breaks - 1} blank lines⟩\n"


def _escaped(text: str) -> str:
    escaped = _MAYBE_HIDDEN.sub(_escape_run, text)
    escaped = _TIMES_AFTER_ESCAPE.sub(r"\1\\u{00D7}", escaped)
    return _REPEATED_ESCAPE.sub(_repeated, escaped)


def _escape_run(run: re.Match[str]) -> str:
    pieces: list[str] = []
    marks = 0
    for char in run[0]:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if char == "\t":
            pieces.append(_TAB_MARK)
        elif is_hidden(char) or marks > _MOST_MARKS:
            pieces.append(f"\\u{{{ord(char):04X}}}")
        else:
            pieces.append(char)
    return "".join(pieces)


def _repeated(run: re.Match[str]) -> str:
    count = len(run[0]) // len(run[1])
    return f"{run[1]}×{count}"
