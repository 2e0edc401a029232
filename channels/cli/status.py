"""The lines above the prompt: an answer that grows, what the bot does, how long a card waits."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from datetime import datetime

from prompt_toolkit.formatted_text import StyleAndTextTuples

from channels.cli.cards import CardLine
from channels.cli.clean import clean
from channels.cli.working import Working
from echo_bot.text.language import _

_PREVIEW_LINES = 4
_AGAIN_SECONDS = 3.0


class Status:
    """`leaving_soon` shows for a moment that one more Ctrl-C leaves."""

    def __init__(
        self,
        cards: CardLine,
        working: Working,
        *,
        columns: Callable[[], int],
        monotonic: Callable[[], float],
        now: Callable[[], datetime],
    ) -> None:
        self._cards, self._working = cards, working
        self._columns, self._monotonic, self._now = columns, monotonic, now
        self._again_until = float("-inf")

    @property
    def is_leaving_soon(self) -> bool:
        return self._monotonic() < self._again_until

    def leaving_soon(self) -> None:
        self._again_until = self._monotonic() + _AGAIN_SECONDS

    @property
    def is_moving(self) -> bool:
        """Do the lines change by themselves?"""
        return self.is_leaving_soon or self._working.is_on or self._cards.first() is not None

    def lines(self) -> StyleAndTextTuples:
        """For the next redraw; each line ends with a newline."""
        line = self._line()
        return [*self._preview(), *line, *([("", "\n")] if line else [])]

    def _line(self) -> StyleAndTextTuples:
        if self.is_leaving_soon:
            return [("class:warn", _("Press Ctrl-C again to stop the bot"))]
        waiting = self._cards.first()
        if waiting is not None:
            return [("class:faint", self._card_line(waiting.card.deadline))]
        if self._working.is_on:
            busy = _("working… {seconds} s").format(seconds=self._working.seconds)
            return [("class:busy", busy), ("class:faint", _(" · Ctrl-C stops it"))]
        return []

    def _preview(self) -> StyleAndTextTuples:
        """The end of an answer that is being written; the whole is printed once it stands."""
        if not self._working.is_on or not self._working.draft.strip():
            return []
        width = max(20, min(self._columns() - 3, 100))
        tail = clean(self._working.draft).strip("\n")[-width * (_PREVIEW_LINES + 1) :]
        lines = [part for line in tail.split("\n") for part in textwrap.wrap(line, width) or [""]]
        return [("class:faint", "\n".join(lines[-_PREVIEW_LINES:]) + "\n")]

    def _card_line(self, deadline: datetime | None) -> str:
        parts = []
        if deadline is not None:
            left = max(0, int((deadline - self._now()).total_seconds()))
            parts.append(_("{seconds} s left").format(seconds=left))
        if len(self._cards) > 1:
            parts.append(_("{count} more to decide").format(count=len(self._cards) - 1))
        return " · ".join([*parts, _("/commands work here too"), _("Ctrl-C stops the turn")])
