"""The configured models in the order they are asked, and going along that order when one fails."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import assert_never

import structlog
from pydantic_ai import Agent
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings as PydanticModelSettings
from pydantic_ai.usage import UsageLimits

from echo_bot.agent.attempts import (
    Again,
    GiveUp,
    LimitReached,
    ModelError,
    ModelsFailed,
    Next,
    after,
    why_failed,
)
from echo_bot.agent.history import text_tokens
from echo_bot.agent.ledger import Ledger, Purpose
from echo_bot.events import SessionKey
from echo_bot.storage.protocol import Values
from echo_bot.text.language import N_, Say, english

log = structlog.get_logger(__name__)

_CHOSEN = "chosen"
_QUESTION_REQUESTS = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model under the name it has in the configuration."""

    name: str
    model: Model


@dataclass(frozen=True, slots=True)
class Patience:
    """`answer_seconds` is how long one answer may take, with everything that failed before it."""

    answer_seconds: float
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep
    monotonic: Callable[[], float] = time.monotonic


class Models:
    """`order` is the default and its fallbacks; `choices` are others that a conversation may choose."""

    def __init__(
        self,
        order: tuple[Candidate, ...],
        choices: tuple[Candidate, ...],
        values: Values,
        ledger: Ledger,
        patience: Patience,
    ) -> None:
        self._order, self._choices, self._values = order, choices, values
        self.ledger, self.patience = ledger, patience

    @property
    def names(self) -> tuple[str, ...]:
        """All that may be chosen, the default first."""
        return tuple(dict.fromkeys(each.name for each in (*self._order, *self._choices)))

    @property
    def default(self) -> str:
        return self._order[0].name

    async def chosen(self, session_key: SessionKey) -> str:
        """The model that this conversation asks first."""
        name = await self._values.get(_scope(session_key), _CHOSEN)
        return name if name in self.names else self.default

    async def choose(self, session_key: SessionKey, name: str) -> None:
        """`name` is one of `names`; the default is what holds without a choice."""
        if name == self.default:
            await self._values.delete(_scope(session_key), _CHOSEN)
        else:
            await self._values.put(_scope(session_key), _CHOSEN, name)

    async def chain(self, session_key: SessionKey) -> tuple[Candidate, ...]:
        """What this conversation asks, one after the other."""
        first = await self.chosen(session_key)
        everything = (*self._order, *self._choices)
        head = next(each for each in everything if each.name == first)
        return (head, *(each for each in self._order if each.name != first))

    def attempts(self, chain: Sequence[Candidate]) -> Attempts:
        return Attempts(chain, self.patience)

    async def check_day(self) -> None:
        """Raises LimitReached when no model may be asked any more today."""
        said = await self.ledger.limit()
        if refusal := said(english):
            raise LimitReached(refusal, said)

    async def ask(self, chain: Sequence[Candidate], instructions: str, prompt: str, purpose: Purpose) -> str:
        """One question without tools. Raises LimitReached or ModelsFailed."""
        attempts = self.attempts(chain)
        await self.check_day()
        while True:
            candidate = attempts.current
            try:
                agent = Agent(candidate.model, instructions=instructions)
                result = await agent.run(
                    prompt,
                    model_settings=answer_settings(self.patience.answer_seconds),
                    usage_limits=UsageLimits(request_limit=_QUESTION_REQUESTS),
                )
            except ModelError as error:
                await attempts.failed(error)
                continue
            await self.ledger.record(
                candidate.name,
                result.response,
                replace(purpose, source=f"{purpose.source}:{result.response.timestamp.isoformat()}"),
                asked_tokens=text_tokens(prompt),
            )
            return result.output


def _of_each(failures: Sequence[Callable[[Say], str]], say: Say) -> str:
    return say(N_("; ")).join(failure(say) for failure in failures)


class Attempts:
    """One answer after the other from a chain of models. A failure leads to another try or another model."""

    def __init__(self, chain: Sequence[Candidate], patience: Patience) -> None:
        self._chain, self._patience = list(chain), patience
        self._place = self._tries = 0
        self._since = patience.monotonic()
        self._failures: list[Callable[[Say], str]] = []

    @property
    def current(self) -> Candidate:
        return self._chain[self._place]

    @property
    def passed_over(self) -> str:
        """The name of the model that should have answered; "" while it does."""
        return self._chain[0].name if self._place else ""

    def answered(self) -> None:
        """The next answer has its own tries, its own time and its own reasons."""
        self._tries, self._since = 0, self._patience.monotonic()
        self._failures.clear()

    async def failed(self, error: Exception) -> None:
        """Wait, or move on. Raises LimitReached or ModelsFailed when neither helps."""
        if isinstance(error, LimitReached):
            raise error
        self._tries += 1
        name, why = self.current.name, partial(why_failed, error, self.current.name)
        left = self._patience.answer_seconds - (self._patience.monotonic() - self._since)
        decision = after(error, self._tries, left, self._place + 1 < len(self._chain))
        log.warning(
            "model_attempt_failed", model=name, error=type(error).__name__, then=type(decision).__name__
        )
        match decision:
            case Again(seconds):
                await self._patience.pause(seconds)
            case Next():
                self._failures.append(why)
                self._place += 1
                self._tries, self._since = 0, self._patience.monotonic()
            case GiveUp():
                said = partial(_of_each, [*self._failures, why])
                raise ModelsFailed(said(english), said) from error
            case _:
                assert_never(decision)


def answer_settings(seconds: float, max_output_tokens: int = 0) -> PydanticModelSettings:
    """For one request, which is repeated here and not by the libraries."""
    settings = PydanticModelSettings(timeout=seconds, request_timeout=seconds, max_retries=0)
    if max_output_tokens:
        settings["max_tokens"] = max_output_tokens
    return settings


def refuse_provider_tools(tools: Sequence[object]) -> None:
    """Tools of the provider run where no gate reaches. Raises UserError when a request carries any."""
    if tools:
        names = ", ".join(sorted({type(tool).__name__ for tool in tools}))
        raise UserError(f"tools of the provider are refused, since no gate reaches them: {names}")


def _scope(session_key: SessionKey) -> str:
    return f"model:{session_key}"
