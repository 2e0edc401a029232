"""Run one tool call: replay or refuse what ran before, pass the gate, execute, retry, record."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Literal, Protocol
from uuid import uuid4

import structlog

from echo_bot.approval.asking import GateRequest, editor_of
from echo_bot.approval.escape import escape_line
from echo_bot.approval.gate import ApprovalGate, GateDecision
from echo_bot.approval.names import named
from echo_bot.errors import StorageError
from echo_bot.policy.call import Executor, JsonValue, canonical_json
from echo_bot.policy.catalogue import canonical_name
from echo_bot.policy.decision import StepName, Verdict
from echo_bot.text import encodable
from echo_bot.text.pieces import in_pieces
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.registry import Registry, readiness
from echo_bot.tools.scope import CallWatch, TurnScope
from echo_bot.tools.sites import CallSite, CallSites

log = structlog.get_logger(__name__)

OUTCOME_UNKNOWN = "Outcome unknown"
"""How the error of a call begins that may have run before a crash."""

NOTE = "note"
"""What stands in the metadata of a result whose output begins with a note on the call, and not with it."""

_UNKNOWN_OUTCOME = (
    f"{OUTCOME_UNKNOWN}: this call had begun when the bot stopped, and its result was not recorded. "
    "It was not run again. Check what it did before repeating it."
)
_RETRIED_KINDS = ("dependency", "timeout")
_SELF_TIMED = frozenset({"exec", "execute_code", "process", "skill_run", "clarify", "delegate_task"})
_WAITING = frozenset({"clarify", "delegate_task"})
"""Calls that only wait, for a person or for workers: they hold no slot."""

_TAKEN_UP = _WAITING | {"spawn_task"}
"""Calls that find again what they began: after a restart they go on instead of being of unknown outcome."""

_SILENT = frozenset({"clarify"})
"""Calls whose waiting the chat shows already."""

_SELF_TIMED_CEILING_SECONDS = 24 * 3600.0
_FOREIGN_SECONDS = 300.0
_MOST_ERROR_CHARS = 4000
_MOST_NOTE_CHARS = 4000

Body = Callable[[dict[str, JsonValue], ToolExecutionContext], Awaitable[ToolResult]]
"""What runs once the gate has passed the call."""


Shorten = Callable[[ToolExecutionContext | None, str, str], Awaitable[str]]
"""Keep a long result as a file of its scope and show its head and tail; see `echo_bot.tools.spill`."""


class Recorder(Protocol):
    async def record(self, kind: str, **fields: object) -> None: ...


@dataclass(frozen=True, slots=True)
class ForeignTool:
    """A tool that came with a toolset instead of the registry: what it declares, and how to run it."""

    parameters: Mapping[str, JsonValue]
    capabilities: tuple[str, ...]
    declared_risk: str | None
    body: Body


class ToolRunner:
    """The only place from which tools are executed."""

    def __init__(
        self,
        registry: Registry,
        gate: ApprovalGate,
        sites: CallSites,
        audit: Recorder,
        watch: CallWatch,
        *,
        mask_known: Callable[[str], str],
        shorten: Shorten,
        credentials_of: Callable[[str], Awaitable[dict[str, str]]],
    ) -> None:
        self._registry, self._gate, self._sites, self._audit = registry, gate, sites, audit
        self._watch = watch
        self._mask_known, self._shorten, self._credentials_of = mask_known, shorten, credentials_of

    async def run(
        self,
        scope: TurnScope,
        key: str,
        name: str,
        args: Mapping[str, JsonValue],
        foreign: ForeignTool | None = None,
    ) -> ToolResult:
        """Run the call `key` of this turn; a refusal is a result. StorageError if it cannot be kept."""
        stored = scope.journal.result(key)
        if stored is not None:
            return stored
        tool_name = canonical_name(name)
        if scope.journal.was_started(key) and tool_name not in _TAKEN_UP:
            result = ToolResult(False, error=_UNKNOWN_OUTCOME, error_kind="internal")
            await self._audit.record("outcome_unknown", turn=scope.turn_id, tool=tool_name, call=key)
        else:
            result = await self._gated(scope, key, tool_name, args, foreign)
        await scope.journal.finish_call(key, result)
        return result

    async def _gated(
        self,
        scope: TurnScope,
        key: str,
        name: str,
        args: Mapping[str, JsonValue],
        foreign: ForeignTool | None,
    ) -> ToolResult:
        tool = None if foreign else self._registry.get(name)
        request = self._request(scope, key, name, args, tool, foreign)
        async with scope.order.place() as leave:
            decision = await self._gate.check(replace(request, on_shown=leave))
        result = await self._decided(scope, key, name, decision, tool, foreign)
        if not decision.edited_by:
            return result
        note = self._mask_known(encodable(edited_note(name, decision)))
        if result.success:
            output = "\n\n".join(filter(None, (note, result.output)))
            return replace(result, output=output, metadata={**result.metadata, NOTE: note})
        why = "" if result.output.startswith(result.error) else result.error
        return replace(result, error="\n\n".join(filter(None, (note, why))))

    async def _decided(
        self,
        scope: TurnScope,
        key: str,
        name: str,
        decision: GateDecision,
        tool: Tool | None,
        foreign: ForeignTool | None,
    ) -> ToolResult:
        if decision.verdict is not Verdict.ALLOW:
            is_invalid = decision.step in (StepName.UNKNOWN_TOOL, StepName.INVALID)
            sentence = self._mask_known(encodable(decision.sentence))
            return ToolResult(False, error=sentence, error_kind="validation" if is_invalid else "denied")
        if tool is not None:
            ready, why = readiness(tool)
            if not ready:
                return ToolResult(False, error=f"{name} is not ready: {why}", error_kind="dependency")
        slot = nullcontext() if scope.slots is None or name in _WAITING else scope.slots
        async with slot:
            refusal = await self._gate.begin(decision, goes_on=scope.journal.was_started(key))
            if refusal:
                return ToolResult(False, error=refusal, error_kind="denied")
            await scope.journal.start_call(key, name)
            return await self._execute(scope, key, name, decision, tool, foreign)

    def _request(
        self,
        scope: TurnScope,
        key: str,
        name: str,
        args: Mapping[str, JsonValue],
        tool: Tool | None,
        foreign: ForeignTool | None,
    ) -> GateRequest:
        edited_by, edited_by_name = editor_of(scope.event, name, args)
        return GateRequest(
            tool=name,
            args=args,
            event=scope.event,
            turn_id=scope.turn_id,
            session_key=scope.session_key,
            call_key=key,
            nested=scope.nested,
            is_registered=(tool is not None or foreign is not None) and scope.may_use(name),
            declared_risk=foreign.declared_risk
            if foreign
            else self._registry.declared_risk(tool)
            if tool
            else None,
            capabilities=foreign.capabilities if foreign else tool.capabilities if tool else (),
            parameters=foreign.parameters if foreign else tool.parameters if tool else None,
            preview=getattr(tool, "preview", None),
            plan=getattr(tool, "plan", None),
            note=scope.note,
            edited_by=edited_by,
            edited_by_name=edited_by_name,
        )

    async def _execute(
        self,
        scope: TurnScope,
        key: str,
        name: str,
        decision: GateDecision,
        tool: Tool | None,
        foreign: ForeignTool | None,
    ) -> ToolResult:
        body: Body | None = foreign.body if foreign else tool.execute if tool else None
        assert body is not None, "the gate passed a tool that is not there"
        retries = 0 if tool is None or decision.executor is not Executor.NONE else tool.max_retries
        timeout = self._timeout(tool)
        attempt = 0
        while True:
            ctx = await self._context(scope, key, name, decision, attempt)
            result = await self._attempt(scope, key, name, body, decision, ctx, timeout)
            if result.success or result.error_kind not in _RETRIED_KINDS or attempt >= retries:
                break
            attempt += 1
            await asyncio.sleep(min(2.0**attempt * 0.25, 5.0))
        await self._write_down(scope, key, name, decision, result, attempt + 1)
        return result

    async def _write_down(
        self, scope: TurnScope, key: str, name: str, decision: GateDecision, result: ToolResult, attempts: int
    ) -> None:
        """The gate's row stands already; a database that refuses now must not lose the result as well."""
        try:
            await self._audit.record(
                "executed",
                turn=scope.turn_id,
                tool=name,
                call=key,
                digest=decision.digest,
                success=result.success,
                error_kind=result.error_kind or "",
                attempts=attempts,
            )
        except StorageError as error:
            log.error("effect_unaudited", turn=scope.turn_id, tool=name, call=key, error=str(error))

    async def _attempt(
        self,
        scope: TurnScope,
        key: str,
        name: str,
        body: Body,
        decision: GateDecision,
        ctx: ToolExecutionContext,
        timeout: float,
    ) -> ToolResult:
        self._sites.enter(
            CallSite(
                execution_id=ctx.execution_id,
                turn_id=scope.turn_id,
                session_key=scope.session_key,
                call_key=key,
                requester=scope.requester,
                address=scope.event.answered_at,
                executor=decision.executor,
                restricted=decision.restricted,
                network=decision.network,
                approval_id=decision.approval_id,
                decided_by=decision.decided_by,
            )
        )
        watch = scope.watch or self._watch
        if name not in _SILENT and not scope.event.unattended:
            watch.began(ctx.execution_id, name, scope.event.address, scope.session_key, str(scope.requester))
        bound = asyncio.timeout(timeout)
        how: Literal["done", "failed", "stopped"] = "stopped"
        try:
            async with bound:
                result = await body(dict(decision.args), ctx)
            presentable = await self._presentable(ctx, name, result)
            how = "done" if presentable.success else "failed"
            return presentable
        except Exception as error:  # the outer edge: any tool's fault becomes its result
            how = "failed"
            if isinstance(error, TimeoutError) and bound.expired():
                return ToolResult(False, error=f"{name} took longer than {timeout:g} s", error_kind="timeout")
            log.exception("tool_raised", tool=name, turn=scope.turn_id, call=key)
            why = f"{name} failed: {type(error).__name__}: {error}"
            return await self._presentable(ctx, name, ToolResult(False, error=why, error_kind="internal"))
        finally:
            self._sites.leave(ctx.execution_id)
            watch.ended(ctx.execution_id, how)

    @staticmethod
    def _timeout(tool: Tool | None) -> float:
        if tool is None:
            return _FOREIGN_SECONDS
        if tool.name in _SELF_TIMED:
            return _SELF_TIMED_CEILING_SECONDS
        return float(tool.timeout_seconds)

    async def _context(
        self, scope: TurnScope, key: str, name: str, decision: GateDecision, attempt: int
    ) -> ToolExecutionContext:
        event = scope.event
        identity = canonical_json([scope.turn_id, name, key, dict(decision.args)])
        return ToolExecutionContext(
            execution_id=uuid4().hex,
            trace_id=scope.turn_id,
            session_key=scope.session_key,
            memory_scope=scope.memory_scope,
            user_id=str(scope.requester),
            agent_id=scope.agent_id,
            attempt_index=attempt,
            idempotency_key=hashlib.sha256(identity.encode()).hexdigest(),
            is_replay=False,
            parent_execution_id=scope.parent_execution_id,
            credentials=await self._credentials_of(name),
            approved_actions=frozenset({name}) if decision.was_authorised else frozenset(),
            approval_source=decision.approval_source.value if decision.approval_source else "auto",
            allowed_tools=scope.allowed_tools,
            channel=event.channel,
            chat_id=event.chat_id,
            reply_to_id=event.message_id,
            unattended=event.unattended,
            cron_authorized=decision.cron_authorized,
            inbound_event_id=event.event_id,
        )

    async def _presentable(self, ctx: ToolExecutionContext, name: str, result: object) -> ToolResult:
        """What a tool returned, made safe to store and to show: text, masked, of a bearable length."""
        if not isinstance(result, ToolResult):
            kind = type(result).__name__
            return ToolResult(
                False, error=f"{name} returned {kind} where a ToolResult belongs", error_kind="internal"
            )
        output = await self._shorten(ctx, name, encodable(as_text(result.output)))
        error = in_pieces(encodable(as_text(result.error)), self._mask_known)
        return replace(
            result,
            success=bool(result.success),
            output=self._mask_known(output),
            error=error if len(error) <= _MOST_ERROR_CHARS else error[: _MOST_ERROR_CHARS - 1] + "…",
        )


def is_outcome_unknown(result: ToolResult) -> bool:
    """Had the call begun when the bot stopped, so that nobody knows what it did?"""
    return not result.success and result.error.startswith(OUTCOME_UNKNOWN)


def edited_note(tool: str, decision: GateDecision) -> str:
    """What the model must know of a call that a person changed, before it reads the result."""
    args = json.dumps(dict(decision.args), ensure_ascii=False)
    if len(args) > _MOST_NOTE_CHARS:
        args = f"{args[:_MOST_NOTE_CHARS]}… ({len(args):,} characters in all)"
    by = escape_line(named(decision.edited_by, decision.edited_by_name))
    return f"{by} changed the arguments of this call. It is now {tool} {args}"


def as_text(value: object) -> str:
    """Tools of others put anything into a result; text stays as it is."""
    return value if isinstance(value, str) else "" if value is None else str(value)
