"""One model loop over a journal: stream, journal each response, run its calls, until there is an answer.

Who talks and where the answer goes is the caller's; see `echo_bot.agent.chat`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings as PydanticModelSettings
from pydantic_ai.toolsets import AbstractToolset
from pydantic_graph import End

from echo_bot.agent.journal import Journal
from echo_bot.agent.toolset import GateCapability, RegistryToolset, TurnDeps
from echo_bot.tools.base import Tool
from echo_bot.tools.runner import ToolRunner, TurnScope

if TYPE_CHECKING:
    from pydantic_ai.agent import AgentRun


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """`timeout_seconds` bounds one answer; token limits of 0 are none."""

    max_iterations: int
    timeout_seconds: float
    max_output_tokens: int
    max_turn_tokens: int


class Listener(Protocol):
    """Told how an answer grows. Every `answer_begins` is followed by `answered` or, at the end, `ends`."""

    def answer_begins(self) -> None: ...

    def text(self, more: str) -> None: ...

    async def answered(self, response: ModelResponse) -> None:
        """The response is in the journal; its calls, if it has any, have not begun."""
        ...

    async def ends(self) -> None:
        """No further answer comes, whether it went well or not."""
        ...


class ModelLoop:
    """Runs turns with one model. A response is in the journal before any of its calls starts."""

    def __init__(
        self,
        model: Model,
        settings: LoopSettings,
        runner: ToolRunner,
        more_toolsets: Sequence[AbstractToolset[TurnDeps]] = (),
    ) -> None:
        self._model, self._settings, self._runner = model, settings, runner
        self._more_toolsets = more_toolsets

    async def run(
        self,
        scope: TurnScope,
        journal: Journal,
        listener: Listener,
        *,
        instructions: str,
        tools: tuple[Tool, ...],
        past: Sequence[ModelMessage],
        prompt: str,
        max_iterations: int = 0,
    ) -> list[ModelMessage]:
        """Run a turn, or go on where its journal ends; returns the turn's own messages.

        `max_iterations` bounds the answers that are still to come; 0: the settings do.
        Raises AgentRunError, UserError, OSError or ValueError for a model that fails.
        """
        done = journal.messages()
        deps = TurnDeps(scope, self._runner, call_keys=call_keys(done))
        agent = Agent(
            self._model,
            deps_type=TurnDeps,
            instructions=instructions,
            toolsets=[RegistryToolset(tools), *self._more_toolsets],
            capabilities=[GateCapability()],
            retries=2,
        )
        async with agent.iter(
            None if done else prompt,
            message_history=[*past, *done],
            deps=deps,
            usage_limits=UsageLimits(
                request_limit=max_iterations or self._settings.max_iterations,
                total_tokens_limit=self._settings.max_turn_tokens or None,
            ),
            model_settings=self._model_settings(),
        ) as run:
            await _drive(run, journal, deps, len(past), listener)
        return journal.messages()

    def _model_settings(self) -> PydanticModelSettings:
        limits = PydanticModelSettings(timeout=self._settings.timeout_seconds)
        if self._settings.max_output_tokens:
            limits["max_tokens"] = self._settings.max_output_tokens
        return limits


async def _drive(
    run: AgentRun[TurnDeps, str], journal: Journal, deps: TurnDeps, start: int, listener: Listener
) -> None:
    node = run.next_node
    try:
        while not isinstance(node, End):
            if Agent.is_model_request_node(node):
                listener.answer_begins()
                async with node.stream(run.ctx) as events:
                    async for event in events:
                        listener.text(text_of(event))
            node = await run.next(node)
            if Agent.is_call_tools_node(node):
                give_calls_ids_of_their_own(node.model_response)
                await _keep(run, journal, deps, start)
                await listener.answered(node.model_response)
    finally:
        await listener.ends()


async def _keep(run: AgentRun[TurnDeps, str], journal: Journal, deps: TurnDeps, start: int) -> None:
    fresh = list(run.all_messages())[start + journal.message_count :]
    if fresh:
        await journal.add_messages(fresh)
    deps.call_keys.update(call_keys(journal.messages()))


def text_of(event: object) -> str:
    """The text that a stream event adds to the answer."""
    match event:
        case PartStartEvent(part=TextPart(content=content)):
            return content
        case PartDeltaEvent(delta=TextPartDelta(content_delta=delta)):
            return delta
        case _:
            return ""


def final_text(messages: Sequence[ModelMessage]) -> str | None:
    """The answer, when the messages end in a response without calls."""
    last = messages[-1] if messages else None
    if not isinstance(last, ModelResponse) or last.tool_calls:
        return None
    return text_of_response(last)


def text_of_response(response: ModelResponse) -> str:
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def call_keys(messages: Sequence[ModelMessage]) -> dict[str, str]:
    """A key for every call of the last response: its place in the turn, since servers may reuse call ids."""
    responses = [m for m in messages if isinstance(m, ModelResponse)]
    if not responses:
        return {}
    calls = responses[-1].tool_calls
    return {call.tool_call_id: f"{len(responses)}.{index}" for index, call in enumerate(calls)}


def give_calls_ids_of_their_own(response: ModelResponse) -> None:
    """Servers may give two calls of one answer the same id, or none: results and approvals go by it."""
    taken: set[str] = set()
    for index, call in enumerate(response.tool_calls):
        if not call.tool_call_id or call.tool_call_id in taken:
            call.tool_call_id = f"{call.tool_call_id or 'call'}.{index}"
        taken.add(call.tool_call_id)
