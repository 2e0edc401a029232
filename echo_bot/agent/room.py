"""Keeps what a model is sent below a size: the older turns shrink first, then the results of this one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse

from echo_bot.agent.history import estimated_tokens, results_to_shorten, without_old_results
from echo_bot.agent.journal import Journal


class Older(Protocol):
    """The turns before this one; see `echo_bot.agent.older`."""

    def messages(self) -> list[ModelMessage]: ...

    async def shorten(self, most_tokens: int) -> bool: ...


class Room:
    """The view of one turn's conversation. `at_tokens` of 0 leaves everything as it is.

    `given` stands first and always stays. What is decided is stored before it is used, so that a revived turn
    sends what it would have sent.
    """

    def __init__(
        self, journal: Journal, given: Sequence[ModelMessage], older: Older | None, at_tokens: int
    ) -> None:
        self._journal, self._given, self._older, self._at_tokens = journal, given, older, at_tokens
        self._start = self._beside = 0
        self.sent_tokens = 0
        """The estimate of the last request."""

    def begin(self) -> list[ModelMessage]:
        """What stands before this turn, from now on: `view` is given messages that start with it."""
        past = self._past()
        self._start = len(past)
        return past

    def learn(self, sent_tokens: int, response: ModelResponse) -> None:
        """How far a request's estimate was from what the model counted, tools and instructions included."""
        if response.usage.input_tokens:
            self._beside = max(0, response.usage.input_tokens - sent_tokens)

    async def view(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        shown = await self._shown(messages)
        self.sent_tokens = estimated_tokens(shown)
        return shown

    def turn_of(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        """The turn's own messages among those that a view is given."""
        return messages[self._start :]

    async def _shown(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        turn = self.turn_of(messages)
        if not self._at_tokens or not turn or not isinstance(turn[0], ModelRequest):
            return messages
        shown = self._with_turn(turn)
        if self._size(shown) <= self._at_tokens:
            return shown
        room = self._at_tokens // 2
        if self._older is not None:
            others = self._size([*self._given, *self._shortened(turn)])
            await self._older.shorten(max(0, room - others))
            shown = self._with_turn(turn)
        if self._size(shown) > self._at_tokens:
            most = room - self._size(self._past())
            cut = max(results_to_shorten(turn, most), self._journal.results_cut())
            await self._journal.note_results_cut(cut)
            shown = self._with_turn(turn)
        return shown

    def _past(self) -> list[ModelMessage]:
        return [*self._given, *(self._older.messages() if self._older else ())]

    def _with_turn(self, turn: Sequence[ModelMessage]) -> list[ModelMessage]:
        return [*self._past(), *self._shortened(turn)]

    def _shortened(self, turn: Sequence[ModelMessage]) -> list[ModelMessage]:
        return without_old_results(turn, self._journal.results_cut())

    def _size(self, messages: Sequence[ModelMessage]) -> int:
        return estimated_tokens(messages) + self._beside
