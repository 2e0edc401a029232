"""The approval model: one request without tools or history, and its answer word for word."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ThinkingPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from echo_bot.agent.attempts import ModelError
from echo_bot.agent.candidates import Attempts, Candidate, Patience, answer_settings
from echo_bot.approval.smart import Judgement, Review

log = structlog.get_logger(__name__)

MAX_ANSWER_TOKENS = 2_000
"""Enough for a model that thinks before its one word; whoever says more is cut, and that escalates."""

CUT = " (not all of it)"
"""Stands behind an answer that is not whole, so that no part of one is taken for a word."""

_THOUGHT_ALOUD = "content"
"""The id that the library gives to thoughts it found within the answer's own text."""

OnResponse = Callable[[Review, str, ModelResponse], Awaitable[None]]
"""Told of each response and of the configured name of whoever gave it, for what it used."""


async def _nobody(review: Review, name: str, response: ModelResponse) -> None:
    return None


class Judge:
    """Asks about one call at a time or about several at once; it keeps nothing between them.

    The first of `chain` judges. One that fails is asked again, or the next one is, as for other answers; what
    one of them said is never asked of another.
    """

    def __init__(
        self, chain: Sequence[Candidate], patience: Patience, on_response: OnResponse = _nobody
    ) -> None:
        self._chain, self._patience, self._on_response = chain, patience, on_response

    async def ask(self, review: Review) -> Judgement:
        """Whatever goes wrong is a judgement without text; only this task's own cancellation raises."""
        task = asyncio.current_task()
        try:
            return await self._judgement(review)
        except asyncio.CancelledError as error:
            if task is None or task.cancelling():
                raise
            return _failed(error)
        except Exception as error:  # noqa: BLE001 - the outer edge: what a provider's library raises is open
            return _failed(error)

    async def _judgement(self, review: Review) -> Judgement:
        attempts = Attempts(self._chain, self._patience)
        while True:
            asked = attempts.current
            try:
                async with asyncio.timeout(self._patience.answer_seconds):
                    response = await self._request(asked.model, review)
            except ModelError as error:
                await attempts.failed(error)
                continue
            await self._on_response(review, asked.name, response)
            said = response.model_name or asked.model.model_name
            return Judgement(answer_of(response), said, asked.name)

    async def _request(self, model: Model, review: Review) -> ModelResponse:
        prompt = UserPromptPart(review.prompt)
        messages = [ModelRequest(parts=[prompt], instructions=review.rules)]
        settings = answer_settings(self._patience.answer_seconds, MAX_ANSWER_TOKENS)
        steady = ModelSettings(**settings, temperature=0.0)
        try:
            return await model_request(model, messages, model_settings=steady)
        except ModelHTTPError as error:
            if error.status_code != 400 or "temperature" not in str(error.body):
                raise
        return await model_request(model, messages, model_settings=settings)


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
