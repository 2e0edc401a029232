"""What somebody is looking for, as words: those of scripts with spaces, and runs of scripts without."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff"  # Thai, Lao, Burmese, Hangul letters, Khmer
    "\u3040-\u30ff\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff"  # kana, Han, Hangul
    "\uf900-\ufaff\uff66-\uffdf\U00020000-\U0003ffff"
)
"""Letters of scripts that put no spaces between words, as the inside of a class of a regex or a GLOB."""

MOST_TERMS = 32
"""Of a query: what comes later is not looked for."""

_PIECE = re.compile(rf"(?P<run>[{UNSPACED}]+)|(?P<word>(?:(?![{UNSPACED}])[^\W_])+)")


@dataclass(frozen=True, slots=True)
class Terms:
    """`words` and `runs` in the order of the query, each once, in lower case."""

    words: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words or self.runs)

    @property
    def pairs(self) -> tuple[str, ...]:
        """The runs cut into overlapping pairs of characters; a run of one character is itself."""
        return tuple(dict.fromkeys(pair for run in self.runs for pair in _windows(run, 2)))[:MOST_TERMS]

    @property
    def triples(self) -> tuple[str, ...]:
        """The same in threes; shorter runs give none."""
        longer = (run for run in self.runs if len(run) > 2)
        return tuple(dict.fromkeys(part for run in longer for part in _windows(run, 3)))[:MOST_TERMS]


def terms_of(query: str) -> Terms:
    """The terms of a query that anybody may have written; none in one without letters and digits."""
    found = list(_PIECE.finditer(query.lower()))
    words = dict.fromkeys(match["word"] for match in found if match["word"])
    runs = dict.fromkeys(match["run"] for match in found if match["run"])
    return Terms(tuple(words)[:MOST_TERMS], tuple(runs)[:MOST_TERMS])


def excerpt(text: str, terms: Terms, max_chars: int) -> str:
    """The part of `text` around the first place where a term stands, of at most `max_chars`, on one line."""
    line = " ".join(text.split())
    if len(line) <= max_chars:
        return line
    room = max(max_chars - 2, 1)
    start = min(max(_first_place(line.lower(), terms) - room // 3, 0), len(line) - room)
    cut = line[start : start + room]
    return ("…" if start else "") + cut + ("…" if start + room < len(line) else "")


def _first_place(lowered: str, terms: Terms) -> int:
    """Words are found by their first letters, as their ends differ from form to form."""
    starts = [word if len(word) < 5 else word[: max(4, len(word) - 3)] for word in terms.words]
    places = (lowered.find(part) for part in (*starts, *terms.triples, *terms.pairs))
    return min((place for place in places if place >= 0), default=0)


def _windows(run: str, width: int) -> Iterator[str]:
    if len(run) <= width:
        yield run
    for start in range(len(run) - width + 1 if len(run) > width else 0):
        yield run[start : start + width]
