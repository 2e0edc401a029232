"""Many words looked for in one pass: a pattern of as many alternatives takes up to a hundred times longer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

import ahocorasick  # type: ignore[import-not-found]

T = TypeVar("T")


class Words(Generic[T]):
    """Finds every occurrence of every word, also of one within another. Immutable."""

    __slots__ = ("_automaton",)

    def __init__(self, words: Mapping[str, T]) -> None:
        """`words`: none empty, each with what is to be told of it."""
        self._automaton = ahocorasick.Automaton()
        for word, about in words.items():
            self._automaton.add_word(word, (len(word), about))
        self._automaton.make_automaton()

    def __len__(self) -> int:
        return len(self._automaton)

    def find(self, text: str) -> Iterator[tuple[int, int, T]]:
        """Start and end of each occurrence, and what was given with the word."""
        for last, (length, about) in self._matches(text):
            yield last + 1 - length, last + 1, about

    def about(self, text: str) -> set[T]:
        """What was given with those that occur."""
        return {about for _, (_, about) in self._matches(text)}

    def _matches(self, text: str) -> Iterator[tuple[int, tuple[int, T]]]:
        """Of a word's last letter; an empty automaton refuses to be asked."""
        return iter(self._automaton.iter(text) if self else ())
