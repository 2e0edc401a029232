"""A model that follows a script: says texts and calls tools in the given order. Streams as real ones do."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel


@dataclass(frozen=True, slots=True)
class Say:
    """Answer with this text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallTool:
    """Call this tool; `also` are further calls of the same response."""

    tool: str
    args: Mapping[str, object] = field(default_factory=dict)
    say: str = ""
    also: tuple[CallTool, ...] = ()


@dataclass(frozen=True, slots=True)
class Fail:
    """Raise this instead of answering."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Decide:
    """Choose the step by the messages so far, such as a name that a tool has just given."""

    choose: Callable[[Sequence[ModelMessage]], Told]


Told = Say | CallTool | Fail
Step = Told | Decide


class ScriptedModel:
    """`model` is given to the product; `seen` holds the messages of every request, for assertions.

    One step is used up by each model request; past the end it says "(script ended)".
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = list(steps)
        self.seen: list[list[ModelMessage]] = []
        self.model = FunctionModel(self._answer, stream_function=self._stream)

    def _next(self, messages: list[ModelMessage]) -> Say | CallTool:
        self.seen.append(messages)
        step = self._steps.pop(0) if self._steps else Say("(script ended)")
        if isinstance(step, Decide):
            step = step.choose(messages)
        if isinstance(step, Fail):
            raise step.error
        return step

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        step = self._next(messages)
        if isinstance(step, Say):
            return ModelResponse(parts=[TextPart(step.text)])
        parts = [ToolCallPart(call.tool, dict(call.args)) for call in (step, *step.also)]
        return ModelResponse(parts=[*([TextPart(step.say)] if step.say else []), *parts])

    async def _stream(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | DeltaToolCalls]:
        step = self._next(messages)
        text = step.text if isinstance(step, Say) else step.say
        for start in range(0, len(text), 12):
            yield text[start : start + 12]
        if isinstance(step, CallTool):
            for index, call in enumerate((step, *step.also)):
                yield {index: DeltaToolCall(name=call.tool, json_args=json.dumps(dict(call.args)))}


def echo_model() -> FunctionModel:
    """A model that answers every message with its own words."""

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart(_last_said(messages))])

    async def stream(messages: list[ModelMessage], _: AgentInfo) -> AsyncIterator[str]:
        yield _last_said(messages)

    return FunctionModel(answer, stream_function=stream)


def _last_said(messages: Sequence[ModelMessage]) -> str:
    requests = [message for message in messages if isinstance(message, ModelRequest)]
    prompts = [part for part in requests[-1].parts if isinstance(part, UserPromptPart)]
    return str(prompts[-1].content)
