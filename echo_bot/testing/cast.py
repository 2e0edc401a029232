"""A model that plays several parts at once: each turn follows the script of its own prompt.

Where a turn stands is told from its messages, so that one that is revived goes on where it was.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from echo_bot.testing.scripted_model import CallTool, Decide, Fail, Step, Told


@dataclass(frozen=True, slots=True)
class Hold:
    """Answer with `then` once the event is set."""

    until: asyncio.Event
    then: Told


class Cast:
    """`scripts` holds the steps by what a turn's prompt begins with; past its end a turn says "(end)".

    `model` is given to the product. By the script's name, `offered` holds the tools that each part was given
    and `heard` what its calls returned; `begun` are the parts in the order of their first requests, and
    `most_at_once` is how many answers were being waited for at a time.
    """

    def __init__(self, scripts: Mapping[str, Sequence[Step | Hold]]) -> None:
        self._scripts = scripts
        self.offered: dict[str, frozenset[str]] = {}
        self.heard: dict[str, list[str]] = {}
        self.begun: list[str] = []
        self._now, self.most_at_once = 0, 0
        self.model = FunctionModel(stream_function=self._stream)

    async def _stream(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | DeltaToolCalls]:
        name, prompt_at = self._part(messages)
        own = messages[prompt_at:]
        self.offered[name] = frozenset(tool.name for tool in info.function_tools)
        self.heard[name] = returned(own)
        answered = sum(isinstance(message, ModelResponse) for message in own)
        if not answered:
            self.begun.append(name)
        steps = self._scripts[name]
        step = steps[answered] if answered < len(steps) else None
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            if isinstance(step, Hold):
                await step.until.wait()
                step = step.then
        finally:
            self._now -= 1
        if isinstance(step, Decide):
            step = step.choose(messages)
        if isinstance(step, Fail):
            raise step.error
        yield "(end)" if step is None else step.say if isinstance(step, CallTool) else step.text
        if isinstance(step, CallTool):
            for index, call in enumerate((step, *step.also)):
                yield {index: DeltaToolCall(name=call.tool, json_args=json.dumps(dict(call.args)))}

    def _part(self, messages: Sequence[ModelMessage]) -> tuple[str, int]:
        """The script of the newest prompt that has one, and where in the messages it stands."""
        for index in reversed(range(len(messages))):
            message = messages[index]
            for part in message.parts if isinstance(message, ModelRequest) else ():
                if isinstance(part, UserPromptPart):
                    prompt = str(part.content)
                    name = next((each for each in self._scripts if prompt.startswith(each)), None)
                    if name is not None:
                        return name, index
        raise LookupError(f"no script begins like this turn: {messages[-1]}")


def returned(messages: Sequence[ModelMessage]) -> list[str]:
    """What the tools returned, oldest first."""
    parts = [part for message in messages if isinstance(message, ModelRequest) for part in message.parts]
    return [str(part.content) for part in parts if isinstance(part, ToolReturnPart)]
