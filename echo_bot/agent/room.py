"""Keeps what a model is sent below a size: the older turns shrink first, then the results of this one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import structlog
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse

from echo_bot.agent.attempts import is_too_long
from echo_bot.agent.history import estimated_tokens, results_to_shorten, without_old_results
from echo_bot.agent.journal import Journal

log = structlog.get_logger(__name__)

_WORTH_A_TRY = 0.9
"""Where more than this share of a request cannot be shortened, what is left would hardly be accepted."""


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
        self._last: list[ModelMessage] = []
        self._gave_way = False
        self.sent_tokens = 0
        """The estimate of the last request."""

    def begin(self) -> list[ModelMessage]:
        """What stands before this turn, from now on: `view` is given messages that start with it."""
        past = self._past()
        self._start = len(past)
        return past

    def learn(self, sent_tokens: int, response: ModelResponse) -> None:
        """How far a request's estimate was from what the model counted, tools and instructions included."""
        self._gave_way = False
        if response.usage.input_tokens:
            self._beside = max(0, response.usage.input_tokens - sent_tokens)

    async def view(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        shown = await self._shown(messages)
        self._last, self.sent_tokens = messages, estimated_tokens(shown)
        return shown

    async def gives_way(self, error: Exception) -> bool:
        """Was the last request too long for the model? From now on less is sent, once for each answer.

        False also when too little of it can be shortened.
        """
        turn = self.turn_of(self._last)
        if not is_too_long(error) or self._gave_way or not self._at_tokens or not turn:
            return False
        self._gave_way = True
        before = self.sent_tokens
        least = estimated_tokens([*self._given, *without_old_results(turn, len(turn) - 1)])
        if least > before * _WORTH_A_TRY:
            return False
        self._at_tokens = min(self._at_tokens, before + self._beside - 1)
        after = estimated_tokens(await self._shown(self._last))
        log.warning("request_too_long", tokens_before=before, tokens_after=after)
        return after < before

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
