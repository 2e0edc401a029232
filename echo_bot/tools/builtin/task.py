"""task: what is to be done, kept until it is, and started by itself when its time has come."""

from __future__ import annotations

from typing import Any, ClassVar

from echo_bot.events import TurnId
from echo_bot.flows.said import Caller, IsAdmin, Said, caller_of, refused
from echo_bot.flows.tasks import Tasks
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.storage.flow_records import TaskState
from echo_bot.storage.protocol import Turns
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.builtin.workflow import ReadMoment, moment_of, shown


class TaskTool(Tool):
    """Says what `Tasks` did."""

    name = "task"
    description = (
        "Keep tasks that outlive the conversation. create (title, notes, start_at, instruction), "
        "list (state), get (id), start (id, start_at), complete and fail (id, result), cancel (id), "
        "retry (id, start_at). At start_at the chat is told; with an instruction you do it then, with nobody "
        "there to approve calls."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["task"].parameters
    capabilities = ("task.write",)

    def __init__(self, tasks: Tasks, turns: Turns, *, is_admin: IsAdmin, read_moment: ReadMoment) -> None:
        self._tasks, self._turns = tasks, turns
        self._is_admin, self._read_moment = is_admin, read_moment

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        caller = await caller_of(self._turns, TurnId(ctx.trace_id), self._is_admin) if ctx else None
        if caller is None:
            return ToolResult(False, error="task: it needs the turn it belongs to", error_kind="internal")
        try:
            said = await self._act(caller, str(params["action"]), params)
        except ValueError as error:
            said = refused(str(error))
        return shown("task", said)

    async def _act(self, caller: Caller, action: str, params: dict[str, Any]) -> Said:
        tasks, task_id = self._tasks, str(params.get("id") or "")
        if action == "create":
            return await tasks.create(
                caller,
                str(params.get("title") or ""),
                notes=str(params.get("notes") or ""),
                instruction=str(params.get("instruction") or ""),
                start_at=moment_of(params, "start_at", self._read_moment),
            )
        if action == "list":
            state = TaskState(params["state"]) if params.get("state") else None
            return await tasks.list(caller, state=state, everybody=bool(params.get("all")))
        if not task_id:
            return refused(f"id is missing: which task to {action}")
        match action:
            case "get":
                return await tasks.get(caller, task_id)
            case "start":
                return await tasks.start(caller, task_id, moment_of(params, "start_at", self._read_moment))
            case "retry":
                return await tasks.retry(caller, task_id, moment_of(params, "start_at", self._read_moment))
            case _:
                return await tasks.close(caller, task_id, action, str(params.get("result") or ""))
