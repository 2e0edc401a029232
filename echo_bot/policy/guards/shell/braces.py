"""Brace expansion: `{a,b}` and `{1..9}` on a word's parts, before anything else is expanded."""

from __future__ import annotations

import re
from itertools import pairwise, product

from echo_bot.policy.guards.shell.syntax import Literal, Part

Item = str | Part
"""An unquoted character, or a part that brace expansion passes over."""

_RANGE = re.compile(r"(?:(-?\d+)\.\.(-?\d+)|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?\d+))?\Z")
_MAX_WORDS = 2000
_MAX_DEPTH = 60


class TooManyWords(Exception):
    """The expansion is larger than any command line; its words are not known."""


def has_braces(parts: tuple[Part, ...]) -> bool:
    return any(isinstance(part, Literal) and not part.quoted and "{" in part.text for part in parts)


def expand_braces(parts: tuple[Part, ...]) -> list[tuple[Part, ...]]:
    """The words that one word stands for; the word itself where its braces are plain text."""
    items: list[Item] = []
    for part in parts:
        if isinstance(part, Literal) and not part.quoted:
            items.extend(part.text)
        else:
            items.append(part)
    pairs = _pairs(items)
    if not pairs:
        return [parts]
    return [_joined(word) for word in _words(items, 0, len(items), pairs, 0)]


def _pairs(items: list[Item]) -> dict[int, tuple[int, list[int]]]:
    """Opening brace → closing brace and the commas between them, for groups that expand."""
    opened: list[tuple[int, list[int]]] = []
    found: dict[int, tuple[int, list[int]]] = {}
    for index, item in enumerate(items):
        if item == "{":
            opened.append((index, []))
        elif item == "," and opened:
            opened[-1][1].append(index)
        elif item == "}" and opened:
            start, commas = opened.pop()
            if commas or _range(items[start + 1 : index]) is not None:
                found[start] = (index, commas)
    return found


def _range(items: list[Item]) -> list[str] | None:
    if not 4 <= len(items) <= 40 or not all(isinstance(item, str) for item in items):
        return None
    found = _RANGE.match("".join(str(item) for item in items))
    if found is None:
        return None
    low, high, first, last, step_text = found.groups()
    step = abs(int(step_text or 1)) or 1
    start, stop = (int(low), int(high)) if low is not None else (ord(first), ord(last))
    if abs(stop - start) // step > _MAX_WORDS:
        raise TooManyWords
    numbers = range(start, stop + 1, step) if start <= stop else range(start, stop - 1, -step)
    if low is None:
        return [chr(number) for number in numbers]
    width = max(len(low), len(high)) if re.match(r"-?0\d", low) or re.match(r"-?0\d", high) else 0
    return [str(number).zfill(width) for number in numbers]


def _words(
    items: list[Item], start: int, end: int, pairs: dict[int, tuple[int, list[int]]], depth: int
) -> list[list[Item]]:
    if depth > _MAX_DEPTH:
        raise TooManyWords
    columns: list[list[list[Item]]] = []
    plain: list[Item] = []
    total = 1
    index = start
    while index < end:
        pair = pairs.get(index)
        if pair is None or (index > 0 and items[index - 1] == "$"):
            plain.append(items[index])
            index += 1
            continue
        close, commas = pair
        columns.append([plain])
        plain = []
        columns.append(_alternatives(items, index, close, commas, pairs, depth))
        total *= len(columns[-1])
        if total > _MAX_WORDS:
            raise TooManyWords
        index = close + 1
    columns.append([plain])
    return [[item for piece in row for item in piece] for row in product(*columns)]


def _alternatives(
    items: list[Item],
    start: int,
    close: int,
    commas: list[int],
    pairs: dict[int, tuple[int, list[int]]],
    depth: int,
) -> list[list[Item]]:
    if not commas:
        return [list(text) for text in _range(items[start + 1 : close]) or []]
    alternatives: list[list[Item]] = []
    edges = [start, *commas, close]
    for left, right in pairwise(edges):
        alternatives.extend(_words(items, left + 1, right, pairs, depth + 1))
    return alternatives


def _joined(items: list[Item]) -> tuple[Part, ...]:
    parts: list[Part] = []
    text: list[str] = []
    for item in items:
        if isinstance(item, str):
            text.append(item)
            continue
        if text:
            parts.append(Literal("".join(text), False))
            text = []
        parts.append(item)
    if text:
        parts.append(Literal("".join(text), False))
    return tuple(parts)
