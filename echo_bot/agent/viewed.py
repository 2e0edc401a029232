"""A model that is sent a view of the conversation instead of all of it; run and journal stay whole."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse
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
        return self.wrapped.prepare_messages(await self._view(messages), parameters)
