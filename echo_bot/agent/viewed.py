"""A model that is sent a view of the conversation instead of all of it; run and journal stay whole.

Many servers take a system message at the beginning alone, and a user's and the model's messages in turns. So
a model that answered nothing is asked once more at the end of the message that it left unanswered.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, TypeGuard

from pydantic_ai import RunContext
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    RetryFeedbackPart,
    TextPart,
    ThinkingPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from echo_bot.agent.candidates import refuse_provider_tools

View = Callable[[list[ModelMessage]], Awaitable[list[ModelMessage]]]


class ViewedModel(WrapperModel):
    """Every request goes through here: what it holds is the view's, and no tool of the provider passes."""

    def __init__(self, wrapped: Model, view: View) -> None:
        super().__init__(wrapped)
        self._view = view

    def prepare_messages(
        self, messages: list[ModelMessage], model_request_parameters: ModelRequestParameters | None = None
    ) -> list[ModelMessage]:
        """As they are: what the view makes of them is prepared, once, for it may hold others."""
        return messages

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        refuse_provider_tools(model_request_parameters.native_tools)
        shown = await self._shown(messages, model_request_parameters)
        return await super().request(shown, model_settings, model_request_parameters)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        refuse_provider_tools(model_request_parameters.native_tools)
        shown = await self._shown(messages, model_request_parameters)
        async with super().request_stream(
            shown, model_settings, model_request_parameters, run_context
        ) as response:
            yield response

    async def _shown(
        self, messages: list[ModelMessage], parameters: ModelRequestParameters
    ) -> list[ModelMessage]:
        viewed = [_asked_by_user(message) for message in await self._view(messages)]
        return in_turns(self.wrapped.prepare_messages(viewed, parameters))


def _asked_by_user(message: ModelMessage) -> ModelMessage:
    """pydantic-ai asks for an answer in a system message."""
    if not isinstance(message, ModelRequest) or not any(map(_is_nudge, message.parts)):
        return message
    parts = [_as_prompt(part) if _is_nudge(part) else part for part in message.parts]
    return replace(message, parts=parts)


def _is_nudge(part: ModelRequestPart) -> TypeGuard[RetryFeedbackPart]:
    return isinstance(part, RetryFeedbackPart) and part.retry.cause == "no_output"


def _as_prompt(part: RetryFeedbackPart) -> UserPromptPart:
    return UserPromptPart(part.model_response(), timestamp=part.timestamp)


def in_turns(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The messages without empty answers, and what follows on from one request as a part of it."""
    found: list[ModelMessage] = []
    for message in messages:
        last = found[-1] if found else None
        if isinstance(message, ModelResponse) and _is_empty(message):
            continue
        if isinstance(message, ModelRequest) and isinstance(last, ModelRequest):
            found[-1] = replace(message, parts=_joined([*last.parts, *message.parts]))
        else:
            found.append(message)
    return found


def _is_empty(answer: ModelResponse) -> bool:
    """Thoughts that a provider signed are to be sent back to it."""
    return all(
        (isinstance(part, TextPart) and not part.content.strip())
        or (isinstance(part, ThinkingPart) and not part.signature)
        for part in answer.parts
    )


def _joined(parts: Sequence[ModelRequestPart]) -> list[ModelRequestPart]:
    """Prompts that follow one another are one message's words."""
    found: list[ModelRequestPart] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, UserPromptPart) and isinstance(last, UserPromptPart):
            found[-1] = replace(last, content=_together(last.content, part.content))
        else:
            found.append(part)
    return found


def _together(
    first: str | Sequence[UserContent], second: str | Sequence[UserContent]
) -> str | Sequence[UserContent]:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_listed(first), *_listed(second)]


def _listed(content: str | Sequence[UserContent]) -> list[UserContent]:
    return [content] if isinstance(content, str) else list(content)
