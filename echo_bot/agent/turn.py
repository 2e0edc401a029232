"""One turn: a stored event in, a direct call or the model's loop, a stored reply out. Revivable anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

import structlog

from echo_bot.agent.at_work import shown_at_work
from echo_bot.agent.directive import Chat, Compact, DirectCall, Misused, SchemaOf, read_directive
from echo_bot.agent.journal import Journal
from echo_bot.agent.received import ReceivedFile, ReceivedFiles
from echo_bot.agent.received.files import for_people, spoken
from echo_bot.delivery import Delivery
from echo_bot.errors import StorageError
from echo_bot.events import Address, InboundEvent, TurnId
from echo_bot.policy.call import JsonValue
from echo_bot.policy.catalogue import CATALOGUE, canonical_name
from echo_bot.session import event_from_json
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import TurnEnd, TurnKind, TurnRecord, TurnState
from echo_bot.text.fences import fence
from echo_bot.text.language import N_, _
from echo_bot.tools.base import ToolResult
from echo_bot.tools.registry import Registry
from echo_bot.tools.runner import ToolRunner
from echo_bot.tools.scope import TurnScope

if TYPE_CHECKING:
    from echo_bot.agent.chat import ChatRunner

log = structlog.get_logger(__name__)

_DIRECT_KEY = "0"

_WENT_WRONG = N_("Something went wrong on my side and this was not finished. The log has the details.")

NO_MODEL = N_(
    "No model is configured, so I can only run what you ask for directly:\n\n"
    "`/run ls -la` – a shell command\n"
    "`/tool read_file path=README.md` – any tool\n\n"
    "Set `models.default` (for example `openai:gpt-4.1`) in the configuration to talk to a model."
)


class Recorder(Protocol):
    async def record(self, kind: str, **fields: object) -> None: ...


@dataclass(frozen=True, slots=True)
class Ended:
    """How a turn ended: `result` is for whoever started it, `reply` what is still to be said.

    The reply is in our own words, unless it `quotes` a tool.
    """

    state: TurnState = TurnState.DONE
    error: str = ""
    result: str = ""
    reply: str = ""
    quotes: bool = False


TurnBody = Callable[[TurnScope, Journal], Awaitable[Ended]]
"""Runs a turn that another one started, or goes on where its journal ends."""


@dataclass(frozen=True, slots=True)
class TurnParts:
    """What a turn works with. `bodies` run the kinds of turns that are no message.

    `offered` names the tools there are; `stop_workers` stops those that a turn waited for which is over: it
    failed, or after a restart it was not allowed to wait for them again.
    """

    store: Store
    registry: Registry
    runner: ToolRunner
    delivery: Delivery
    audit: Recorder
    chat: ChatRunner | None
    received: ReceivedFiles
    is_asking: Callable[[TurnId], bool]
    stop_workers: Callable[[TurnId], Awaitable[object]]
    offered: Callable[[], frozenset[str]]
    parallel_tools: int
    bodies: Mapping[TurnKind, TurnBody] = field(default_factory=dict)


class TurnRunner:
    """Runs turns. `run` raises nothing but CancelledError (a /stop, or the bot stopping)."""

    def __init__(self, parts: TurnParts) -> None:
        self._parts = parts

    async def run(self, turn: TurnRecord) -> None:
        """From queued (or revived) to its end. The reply is in the outbox as the turn counts as done."""
        try:
            entries = await self._parts.store.turns.begin(turn.turn_id)
            if entries is not None:
                journal = Journal(self._parts.store.turns, turn.turn_id, entries)
                await self._run_typing(turn, event_from_json(turn.event_json), journal)
        except Exception as error:  # the outer edge of a turn: it fails alone, and says so
            log.exception("turn_failed", turn=turn.turn_id)
            await self._fail(turn, type(error).__name__)

    async def _run_typing(self, turn: TurnRecord, event: InboundEvent, journal: Journal) -> None:
        async with shown_at_work(partial(self._show_typing, turn, event.address)):
            ended = await self._run(turn, event, journal)
            await self._end(turn, event, ended)
            if ended.state is not TurnState.DONE or journal.is_revived:
                await self._parts.stop_workers(turn.turn_id)

    async def _run(self, turn: TurnRecord, event: InboundEvent, journal: Journal) -> Ended:
        worker = event.worker
        tools = frozenset(worker.tools) if worker else self._tools_of(turn)
        scope = TurnScope(
            turn_id=turn.turn_id,
            session_key=turn.session_key,
            event=event,
            memory_scope=turn.memory_scope,
            journal=journal,
            nested=worker is not None,
            parent_execution_id=worker.execution_id if worker else None,
            allowed_tools=tools,
            slots=asyncio.Semaphore(self._parts.parallel_tools),
        )
        if turn.kind != "message":
            return await self._parts.bodies[turn.kind](scope, journal)
        files = await self._parts.received.fetch(turn.session_key, event, journal)
        match read_directive(event.text, schemas_of(self._parts.registry)):
            case Misused() as misused:
                return Ended(reply=misused.said(_))
            case DirectCall(tool, args):
                scope = replace(scope, allowed_tools=self._parts.offered())
                result = await self._parts.runner.run(scope, _DIRECT_KEY, tool, args)
                return Ended(reply=_joined(for_people(files), shown_result(tool, result)), quotes=True)
            case Compact():
                chat = self._parts.chat
                return Ended(reply=await chat.compact(turn.session_key) if chat else _(NO_MODEL))
            case Chat():
                return await self._chat(scope, journal, files)

    def _tools_of(self, turn: TurnRecord) -> frozenset[str]:
        """What its direct calls may hand on. A chat asks for it itself: most messages need it once."""
        return frozenset() if turn.kind == "message" else self._parts.offered()

    async def _chat(
        self,
        scope: TurnScope,
        journal: Journal,
        files: tuple[ReceivedFile, ...],
    ) -> Ended:
        if self._parts.chat is None:
            told = for_people(files)
            is_said = bool(scope.event.text.strip() or spoken(files))
            return Ended(reply=_joined(told, _(NO_MODEL) if is_said or not told else ""))
        ended = await self._parts.chat.run(scope, journal, files)
        if ended.error:
            await self._parts.audit.record("model_failed", turn=scope.turn_id, error=ended.error)
            return Ended(TurnState.FAILED, ended.error)
        return Ended()

    async def _fail(self, turn: TurnRecord, error: str) -> None:
        """Say so and mark it. While the database refuses even that, the turn stays and is revived later."""
        try:
            event = event_from_json(turn.event_json)
            is_spawned = turn.kind == "worker" and event.worker is not None and event.worker.spawned
            is_told = turn.kind == "message" or is_spawned
            await self._end(
                turn, event, Ended(TurnState.FAILED, error, reply=_(_WENT_WRONG) if is_told else "")
            )
            await self._parts.stop_workers(turn.turn_id)
        except (StorageError, ValueError) as second:
            log.error("turn_failure_untold", turn=turn.turn_id, error=str(second))

    async def _end(self, turn: TurnRecord, event: InboundEvent, ended: Ended) -> None:
        """Both or neither: the reply is stored and the turn is over."""
        end = TurnEnd(turn.turn_id, ended.state, ended.error, ended.result)
        await self._parts.delivery.send(
            event.address,
            ended.reply,
            source=f"{turn.turn_id}:reply",
            is_own=not ended.quotes,
            reply_to_id=event.message_id,
            ends=end,
        )

    async def _show_typing(self, turn: TurnRecord, address: Address) -> None:
        """A turn that waits for a person shows nothing, nor does one that is no message."""
        if turn.kind == "message" and not self._parts.is_asking(turn.turn_id):
            await self._parts.delivery.typing(address)


def schemas_of(registry: Registry) -> SchemaOf:
    """The parameters of a tool by its name, for reading direct calls."""

    def schema_of(name: str) -> dict[str, JsonValue] | None:
        canonical = canonical_name(name)
        tool = registry.get(canonical)
        if tool is not None:
            return tool.parameters
        entry = CATALOGUE.get(canonical)
        return dict(entry.parameters) if entry else None

    return schema_of


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def shown_result(tool: str, result: ToolResult) -> str:
    """A direct call's result as a message: output in a fence, a refusal as its sentence."""
    if result.success:
        return (
            fence(result.output) if result.output.strip() else _("{tool}: done, no output.").format(tool=tool)
        )
    error, output = (
        result.error or _("{tool} failed and did not say why.").format(tool=tool),
        result.output.strip(),
    )
    if output.startswith(error):
        return fence(result.output)
    return f"{error}\n\n{fence(result.output)}" if output else error
