"""workflow: several steps in their order, each passed by the gate, shown as one message."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar

from echo_bot.events import TurnId
from echo_bot.flows.checking import ToolBook
from echo_bot.flows.said import Caller, IsAdmin, Said, caller_of, refused
from echo_bot.flows.workflows import Workflows
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.storage.protocol import Turns
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult

ReadMoment = Callable[[str], datetime]
"""The moment that a text means; ValueError with a sentence when it means none."""

_LOOKING = frozenset({"status", "list"})


class WorkflowTool(Tool):
    """Says what `Workflows` did. `tools` are those that steps may call."""

    name = "workflow"
    description = (
        "Plan several steps and let them run in the background, in their order and in parallel where they "
        "can. create (name, steps), then start (name); status and list look; pause (resume_at) holds what "
        "has not begun and resume goes on; advance (step, outcome, note) says that a manual step was done; "
        "cancel. Each step is a tool call, a worker's goal (agent) or done by hand (manual). needs, when, "
        "retries and on_failure say how they hang together; $from hands results on. Every call passes the "
        "same approvals as your own."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["workflow"].parameters
    capabilities = ("workflow.write",)

    def __init__(
        self,
        workflows: Workflows,
        turns: Turns,
        tools: Callable[[], ToolBook],
        *,
        is_admin: IsAdmin,
        read_moment: ReadMoment,
    ) -> None:
        self._workflows, self._turns, self._tools = workflows, turns, tools
        self._is_admin, self._read_moment = is_admin, read_moment

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        caller = await caller_of(self._turns, TurnId(ctx.trace_id), self._is_admin) if ctx else None
        if caller is None:
            return ToolResult(False, error="workflow: it needs the turn it belongs to", error_kind="internal")
        try:
            said = await self._act(caller, str(params["action"]), params)
        except ValueError as error:
            said = refused(str(error))
        return shown("workflow", said)

    async def _act(self, caller: Caller, action: str, params: dict[str, Any]) -> Said:
        flows, name = self._workflows, str(params.get("name") or "")
        if caller.is_worker and action not in _LOOKING:
            return refused("a worker changes no workflow; say in your answer what should be done")
        if action == "list":
            return await flows.list(caller, everybody=bool(params.get("all")))
        if not name:
            return refused(f"name is missing: which workflow to {action}")
        match action:
            case "create":
                return await flows.create(caller, name, params.get("steps", []), self._tools())
            case "start":
                return await flows.start(caller, name)
            case "status":
                return await flows.status(caller, name)
            case "resume":
                return await flows.resume(caller, name)
            case "cancel":
                return await flows.cancel(caller, name)
            case "pause":
                return await flows.pause(caller, name, moment_of(params, "resume_at", self._read_moment))
            case _:
                step, note = str(params.get("step") or ""), str(params.get("note") or "")
                is_done = params.get("outcome", "done") == "done"
                return await flows.advance(caller, name, step, is_done=is_done, note=note)


def moment_of(params: dict[str, Any], name: str, read: ReadMoment) -> datetime | None:
    """A parameter that says when; None when it is not given. Raises ValueError with a sentence."""
    text = str(params.get(name) or "").strip()
    if not text:
        return None
    try:
        return read(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def shown(tool: str, said: Said) -> ToolResult:
    if said.ok:
        return ToolResult(True, output=said.text)
    return ToolResult(False, error=f"{tool}: {said.text}", error_kind="business")
