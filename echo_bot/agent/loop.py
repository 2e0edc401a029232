"""One model loop over a journal: stream, journal each response, run its calls, until there is an answer.

Who talks and where the answer goes is the caller's; see `echo_bot.agent.chat`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.toolsets import AbstractToolset
from pydantic_graph import End

from echo_bot.agent.answers import (
    Answerer,
    GrowingText,
    answered_by,
    call_keys,
    is_answer,
    make_presentable,
    sign,
)
from echo_bot.agent.attempts import LimitReached, ModelError
from echo_bot.agent.candidates import Attempts, Models, answer_settings
from echo_bot.agent.journal import Journal
from echo_bot.agent.ledger import Purpose
from echo_bot.agent.room import Older, Room
from echo_bot.agent.sight import ImageSetting, ReadImages, Sight
from echo_bot.agent.toolset import GateCapability, RegistryToolset, TurnDeps
from echo_bot.agent.viewed import ViewedModel
from echo_bot.errors import EchoBotError
from echo_bot.events import TurnId
from echo_bot.storage.usage_record import UsageKind
from echo_bot.text.language import N_, Say, english
from echo_bot.tools.base import Tool
from echo_bot.tools.runner import ToolRunner
from echo_bot.tools.scope import TurnScope

if TYPE_CHECKING:
    from pydantic_ai.agent import AgentRun
    from pydantic_ai.result import AgentStream


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """`timeout_seconds` bounds one answer; token limits of 0 are none.

    `at_tokens` is the size from which the conversation is sent shortened; 0: never.
    """

    max_iterations: int
    timeout_seconds: float
    max_output_tokens: int
    max_turn_tokens: int
    at_tokens: int = 0
    images: ImageSetting = "auto"


class Listener(Protocol):
    """Told how an answer grows. Every `answer_begins` is followed by `answered` or, at the end, `ends`.

    One that comes instead makes void what was told of the answer since the last.
    """

    def answer_begins(self) -> None: ...

    def text(self, more: str) -> None: ...

    async def answered(self, response: ModelResponse) -> None:
        """The response is in the journal; its calls, if it has any, have not begun."""
        ...

    async def ends(self) -> None:
        """No further answer comes, whether it went well or not."""
        ...


class ModelLoop:
    """Runs turns with a chain of models. A response is in the journal before any of its calls starts.

    A model that fails is asked again, or the next one goes on where the journal ends: finished calls are
    answered from it.
    """

    def __init__(
        self,
        models: Models,
        settings: LoopSettings,
        runner: ToolRunner,
        more_toolsets: Sequence[AbstractToolset[TurnDeps]] = (),
    ) -> None:
        self.models = models
        self._settings, self._runner, self._more_toolsets = settings, runner, more_toolsets

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
        older: Older | None = None,
        images: ReadImages | None = None,
        max_iterations: int = 0,
    ) -> list[ModelMessage]:
        """Run a turn, or go on where its journal ends; returns the turn's own messages.

        `older` are the session's turns, which follow on `past` and may be shortened. `images` are shown
        beside the prompt. `max_iterations` bounds the answers that are still to come; 0: the settings do, for
        the whole turn.
        Raises LimitReached or ModelsFailed when there is no answer.
        """
        await self.account(scope, journal)
        room = Room(journal, past, older, self._settings.at_tokens)
        sight = Sight(room, images, self._settings.images, journal.messages())
        most = journal.response_count + max_iterations if max_iterations else self._settings.max_iterations
        attempts = self.models.attempts(await self.models.chain(scope.session_key))
        step = _Step(scope, journal, listener, room, sight, attempts, most, _tokens_of(journal.messages()))
        try:
            while True:
                try:
                    await self._go_on(step, instructions, tools, prompt)
                    return journal.messages()
                except ModelError as error:
                    if not await room.gives_way(error) and not sight.gives_way(error):
                        await attempts.failed(error)
        finally:
            await listener.ends()

    async def account(self, scope: TurnScope, journal: Journal) -> None:
        """Count what an earlier run journalled and had no time to count."""
        responses = [m for m in journal.messages() if isinstance(m, ModelResponse)]
        for number, response in enumerate(responses, 1):
            await self._record(scope, number, response)

    async def _record(self, scope: TurnScope, number: int, response: ModelResponse) -> None:
        source = f"turn:{scope.turn_id}:{number}"
        kind: UsageKind = "worker" if scope.nested else "chat"
        purpose = Purpose(source, kind, scope.session_key, _counted_for(scope))
        answered = answered_by(response)
        await self.models.ledger.record(answered.model, response, purpose, asked_tokens=answered.asked_tokens)

    async def _go_on(self, step: _Step, instructions: str, tools: tuple[Tool, ...], prompt: str) -> None:
        """One run of the library, until there is an answer or an error."""
        done, past = step.journal.messages(), step.room.begin()
        deps = TurnDeps(step.scope, self._runner, call_keys=call_keys(done))
        agent = Agent(
            ViewedModel(step.attempts.current.model, step.sight.view_for(step.attempts.current)),
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
            usage_limits=UsageLimits(request_limit=None),
            model_settings=answer_settings(self._settings.timeout_seconds, self._settings.max_output_tokens),
        ) as run:
            await self._drive(run, step, deps, len(past))

    async def _drive(self, run: AgentRun[TurnDeps, str], step: _Step, deps: TurnDeps, start: int) -> None:
        node = run.next_node
        while not isinstance(node, End):
            if Agent.is_model_request_node(node):
                await self._check_limits(step)
                await _listen(node.stream(run.ctx), step.listener)
            node = await run.next(node)
            if not Agent.is_call_tools_node(node) or not is_answer(node.model_response):
                continue
            if await self._keep(list(run.all_messages())[start:], step, deps):
                await step.listener.answered(node.model_response)

    async def _check_limits(self, step: _Step) -> None:
        """Raises LimitReached before a request that a limit forbids."""
        journal, limit = step.journal, self._settings.max_turn_tokens
        if journal.response_count >= step.most_answers:
            key = " (agent.max_iterations)" if step.most_answers == self._settings.max_iterations else ""
            raise too_many_answers(journal.response_count, key)
        if limit and await self._used(step) >= limit:
            template = N_("models.limits.total_tokens_per_turn is reached: {most:,} tokens")
            raise LimitReached(template.format(most=limit), lambda say: say(template).format(most=limit))
        await self.models.check_day()

    async def _used(self, step: _Step) -> int:
        """Tokens of the turn, and of its workers: handing work on is no way around its limit."""
        together = await self.models.ledger.of_turn(_counted_for(step.scope))
        return max(step.tokens, sum(each.tokens for each in together))

    async def _keep(self, turn: list[ModelMessage], step: _Step, deps: TurnDeps) -> bool:
        """Journal what came since the last time; then its calls may run. False for what was there before."""
        journal, attempts, sent = step.journal, step.attempts, step.room.sent_tokens
        answerer = Answerer(
            attempts.current.name, attempts.passed_over, sent, step.sight.was_refused_by(attempts.current)
        )
        fresh, number = turn[journal.message_count :], journal.response_count
        if not fresh:
            return False
        answers = [message for message in fresh if isinstance(message, ModelResponse)]
        for answer in answers:
            make_presentable(answer)
            sign(answer, answerer)
        await journal.add_messages(fresh)
        deps.call_keys.update(call_keys(turn))
        for place, answer in enumerate(answers, number + 1):
            await self._record(step.scope, place, answer)
            step.room.learn(sent, answer)
        step.tokens += _tokens_of(answers)
        attempts.answered()
        return True


def too_many_answers(count: int, key: str = "") -> LimitReached:
    """A turn's end after so many answers with calls; `key` names the setting."""
    template = N_("it gave {count} answers and none was the last{key}")

    def said(say: Say) -> str:
        return say(template).format(count=count, key=key)

    return LimitReached(said(english), said)


@dataclass(slots=True)
class _Step:
    """One turn on its way. `tokens` were used by it so far, earlier runs included."""

    scope: TurnScope
    journal: Journal
    listener: Listener
    room: Room
    sight: Sight
    attempts: Attempts
    most_answers: int
    tokens: int


def _counted_for(scope: TurnScope) -> TurnId:
    """The turn whose tokens these are: of a worker the one that it goes back to."""
    return scope.event.worker.origin if scope.event.worker else scope.turn_id


async def _listen(
    streaming: AbstractAsyncContextManager[AgentStream[TurnDeps, str]], listener: Listener
) -> None:
    """Raises ModelError or, when the store refuses, an error of ours."""
    listener.answer_begins()
    text = GrowingText()
    try:
        async with streaming as events:
            async for event in events:
                _tell(text.feed(event), listener)
            _tell(text.end(), listener)
    except (*ModelError, EchoBotError):
        raise
    except Exception as error:  # what the libraries make of a server's garbage is open
        raise UnexpectedModelBehavior(f"{type(error).__name__}: {error}") from error


def _tell(change: tuple[bool, str], listener: Listener) -> None:
    is_void, more = change
    if is_void:
        listener.answer_begins()
    if more:
        listener.text(more)


def _tokens_of(messages: Sequence[ModelMessage]) -> int:
    return sum(message.usage.total_tokens for message in messages if isinstance(message, ModelResponse))
