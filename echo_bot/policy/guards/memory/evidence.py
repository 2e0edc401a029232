"""How much a passage reads like an order to the assistant, by its words and the parts they play.

Rules name the orders that are known. Evidence weighs any wording: a person with authority, a guard, and a
word that undoes it count together even where no rule knows the sentence. The weights are learned from notes
(`bench/memory_evidence.py`), and a passage is an order from `ENOUGH` on.
"""

from __future__ import annotations

import functools
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise

from echo_bot.policy.guards.memory import fold
from echo_bot.policy.guards.memory.evidence_weights import BIAS, WEIGHTS
from echo_bot.policy.guards.memory.vocabulary_parts import PARTS

ENOUGH = 2.0

_GLUED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(
    rf"(?P<link>https?://\S+)|(?P<mail>[\w.+-]{{1,60}}@[\w.-]+)|(?P<glued>[{_GLUED}])"
    rf"|(?P<word>(?:(?![{_GLUED}])[^\W\d_])+(?:['’](?:(?![{_GLUED}])[^\W\d_])+)?)|(?P<number>\d+)"
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
_STANDS_FOR = {"link": "URL", "mail": "MAIL", "number": "NUMBER"}
_LONGEST_STEM = 12
_LONGEST_PASSAGE = 3
"""In sentences or lines."""
_FURTHEST = 40
"""How many parts further on a part still counts as following."""
_MOST_WORDS = 80

Part = tuple[int, str]
"""Where in a passage, and which part."""


def order_in(text: str) -> str | None:
    """The passage of `text` that reads most like an order, when any does."""
    best, found = ENOUGH, None
    for passage in passages(text):
        if (weight := weighed(features(passage), BIAS, WEIGHTS)) >= best:
            best, found = weight, passage
    return found


def weighed(some: frozenset[str], bias: float, weights: Mapping[str, float]) -> float:
    """What features weigh together: from about -10, a plain note, to about 10, an order."""
    known = [weights[feature] for feature in some if feature in weights]
    return bias + math.fsum(known) / math.sqrt(len(known)) if known else bias


def features(passage: str) -> frozenset[str]:
    """The words of a passage, the parts in it, and which part follows which (`NEG<ASK`)."""
    copy = fold.simplified(fold.latin(fold.without_mentions(fold.plain(passage)))).replace("’", "'")
    words: set[str] = set()
    parts: list[Part] = []
    for found in _TOKEN.finditer(copy):
        kind, word = str(found.lastgroup), found[0]
        words.add(_STANDS_FOR.get(kind, word))
        parts.extend(
            (found.start(), part) for part in _parts_of(kind, word, copy, found.start(), found.end())
        )
    follows = {
        f"{first}<{second}"
        for index, (here, first) in enumerate(parts)
        for there, second in parts[index + 1 : index + _FURTHEST]
        if here != there and first != second
    }
    return frozenset(words | {part for _, part in parts} | follows)


def passages(text: str) -> Iterator[str]:
    """Every sentence or line, and two or three in a row; a long one in halves that overlap."""
    sentences = [piece for piece in _SENTENCE.split(text) if piece and not piece.isspace()]
    for length in range(1, _LONGEST_PASSAGE + 1):
        for first in range(len(sentences) - length + 1):
            yield from _pieces(" ".join(sentences[first : first + length]))


def _pieces(passage: str) -> Iterator[str]:
    ends = [found.end() for found in _TOKEN.finditer(passage)]
    if len(ends) <= _MOST_WORDS:
        yield passage
        return
    half = _MOST_WORDS // 2
    cuts = [0, *ends[half::half], len(passage)]
    for (start, _), (_, end) in pairwise(pairwise(cuts)):
        yield passage[start:end]


def _parts_of(kind: str, word: str, copy: str, start: int, end: int) -> Iterator[str]:
    known = _known()
    if kind == "glued":
        for glued, part in known.glued.get(word, ()):
            if copy.startswith(glued, start):
                yield part
    elif kind == "word":
        yield from known.words.get(word, ())
        for length in range(2, min(len(word), _LONGEST_STEM) + 1):
            yield from known.stems.get(word[:length], ())
        for rest, part in known.phrases.get(word, ()):
            if copy.startswith(rest, end):
                yield part
    elif kind in ("link", "mail"):
        yield "PLACE"


class _Known:
    """The parts by word, stem, phrase and glued word."""

    def __init__(self) -> None:
        self.words: dict[str, list[str]] = defaultdict(list)
        self.stems: dict[str, list[str]] = defaultdict(list)
        self.phrases: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self.glued: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for part, text in PARTS.items():
            for entry in text.split():
                self._learn(part, fold.simplified(fold.latin(fold.plain(entry.replace("_", " ")))))

    def _learn(self, part: str, entry: str) -> None:
        stem = entry.rstrip("*")
        if re.match(f"[{_GLUED}]", entry):
            self.glued[entry[0]].append((entry, part))
        elif " " in entry:
            first, rest = stem.split(" ", 1)
            self.phrases[first].append((" " + rest, part))
        elif stem != entry:
            self.stems[stem].append(part)
        else:
            self.words[entry].append(part)


@functools.cache
def _known() -> _Known:
    return _Known()
