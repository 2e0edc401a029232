"""Thinking that a model writes into its text, `<think>…</think>`: taken out, whole or as it streams."""

from __future__ import annotations

import re

_MARK = re.compile(r"(?<!`)<(/?)think(?:ing)?>", re.IGNORECASE)
_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_MARKS = ("<think>", "<thinking>", "</think>", "</thinking>")
_LONGEST = max(map(len, _MARKS))


def without_thinking(text: str) -> str:
    """The text without what the model thought in it.

    A thought that never ends reaches to the end of the text, one that never began (some servers leave the
    first mark out) from its beginning. A mark right behind a backtick is one that the text speaks about.
    """
    thoughts = ThinkFilter()
    thoughts.feed(text)
    thoughts.end()
    return thoughts.text


class ThinkFilter:
    """Takes deltas, however they are cut. `text` is what may be shown so far.

    It only grows, except when a thought ends that never began: then what was shown is void.
    """

    def __init__(self) -> None:
        self.text = ""
        self._held = ""
        self._before = ""  # a backtick here makes the next mark plain text
        self._thinks = self._has_thought = False

    def feed(self, delta: str) -> None:
        self._held += delta
        while self._step(at_end=False):
            pass

    def end(self) -> None:
        """No more comes: what might have become a mark is text, or part of a thought."""
        while self._step(at_end=True):
            pass
        self._held = ""

    def _step(self, *, at_end: bool) -> bool:
        """Use up part of what is held; False when more must come first."""
        if self._thinks:
            return self._skip_thought()
        found = _MARK.search(self._before + self._held)
        if found is None:
            safe = len(self._held) - (0 if at_end else _unsure(self._held))
            self._show(self._held[:safe])
            self._held = self._held[safe:]
            return False
        start, end = (place - len(self._before) for place in found.span())
        self._show(self._held[:start])
        self._held, self._before, self._has_thought = self._held[end:], "", True
        if found[1]:
            self.text = ""
        else:
            self._thinks = True
        return True

    def _skip_thought(self) -> bool:
        found = _CLOSE.search(self._held)
        if found is None:
            self._held = self._held[1 - _LONGEST :]
            return False
        self._held, self._thinks = self._held[found.end() :], False
        return True

    def _show(self, text: str) -> None:
        if not text:
            return
        self._before = text[-1]
        self.text += text.lstrip() if self._has_thought and not self.text else text


def _unsure(text: str) -> int:
    """How many characters at the end may be the beginning of a mark."""
    start = text.rfind("<")
    may_be_mark = start >= 0 and any(mark.startswith(text[start:].lower()) for mark in _MARKS)
    return len(text) - start if may_be_mark else 0
