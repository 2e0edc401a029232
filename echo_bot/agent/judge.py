"""The approval model: one request without tools or history, and its answer word for word."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ThinkingPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from echo_bot.approval.smart import Judgement, Review

log = structlog.get_logger(__name__)

MAX_ANSWER_TOKENS = 2_000
"""Enough for a model that thinks before its one word; whoever says more is cut, and that escalates."""

CUT = " (not all of it)"
"""Stands behind an answer that is not whole, so that no part of one is taken for a word."""

_THOUGHT_ALOUD = "content"
"""The id that the library gives to thoughts it found within the answer's own text."""

OnResponse = Callable[[Review, ModelResponse], Awaitable[None]]
"""Told of each response, for what it used."""


async def _nobody(review: Review, response: ModelResponse) -> None:
    return None


class Judge:
    """Asks `model` about one call at a time or about several at once; it keeps nothing between them."""

    def __init__(self, model: Model, timeout_seconds: float, on_response: OnResponse = _nobody) -> None:
        self._model, self._timeout_seconds, self._on_response = model, timeout_seconds, on_response

    async def ask(self, review: Review) -> Judgement:
        """Whatever goes wrong is a judgement without text; only this task's own cancellation raises."""
        task = asyncio.current_task()
        try:
            async with asyncio.timeout(self._timeout_seconds):
                response = await self._request(review)
            await self._on_response(review, response)
        except asyncio.CancelledError as error:
            if task is None or task.cancelling():
                raise
            return _failed(error)
        except Exception as error:  # noqa: BLE001 - the outer edge: what a provider's library raises is open
            return _failed(error)
        return Judgement(answer_of(response), response.model_name or self._model.model_name)

    async def _request(self, review: Review) -> ModelResponse:
        prompt = UserPromptPart(review.prompt)
        messages = [ModelRequest(parts=[prompt], instructions=review.rules)]
        steady = ModelSettings(max_tokens=MAX_ANSWER_TOKENS, temperature=0.0)
        try:
            return await model_request(self._model, messages, model_settings=steady)
        except ModelHTTPError as error:
            if error.status_code != 400 or "temperature" not in str(error.body):
                raise
        limited = ModelSettings(max_tokens=MAX_ANSWER_TOKENS)
        return await model_request(self._model, messages, model_settings=limited)


def answer_of(response: ModelResponse) -> str:
    """All it said. What a provider delivers as thoughts apart from the answer is no part of it."""
    said = [part for part in response.parts if not _is_apart(part)]
    text = "".join(part.content for part in said if isinstance(part, TextPart))
    is_whole = response.finish_reason in (None, "stop") and all(isinstance(part, TextPart) for part in said)
    return text if is_whole else text + CUT


def _is_apart(part: object) -> bool:
    return isinstance(part, ThinkingPart) and part.id != _THOUGHT_ALOUD


def _failed(error: BaseException) -> Judgement:
    log.warning("approval_model_failed", error=type(error).__name__)
    return Judgement(None)
