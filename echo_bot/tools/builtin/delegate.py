"""delegate_task and spawn_task: hand tasks to workers, and wait for their answers or go on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar

from echo_bot.events import TurnId
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.workers import worker_tools
from echo_bot.storage.records import TurnRecord, TurnState
from echo_bot.text.language import N_
from echo_bot.tools.base import ErrorKind, Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.sites import CallSite, CallSites
from echo_bot.tools.web.written import as_data, clean_line
from echo_bot.tools.workers import Workers, WorkerTask

ShortenTo = Callable[[ToolExecutionContext | None, str, str, int], Awaitable[str]]
"""Keep a text that is longer than so many characters as a file, and show its head and tail."""

_LONGEST_SECONDS = 23 * 3600.0
_GOAL_CHARS = 80
_HEAD_CHARS = 300
_LEAST_SHARE = 800
_NO_MODEL = N_("a worker needs a model: set models.default")


class _Employing(Tool):
    """What both have in common."""

    def __init__(self, workers: Workers, sites: CallSites, *, has_model: bool) -> None:
        self._workers, self._sites, self._has_model = workers, sites, has_model

    def readiness_detail(self) -> tuple[bool, str]:
        return (True, "ready") if self._has_model else (False, _NO_MODEL)

    def _site(self, ctx: ToolExecutionContext) -> CallSite:
        return self._sites.get(ctx.execution_id)


class DelegateTaskTool(_Employing):
    """Waits for its workers, across restarts too: the same call finds them again."""

    name = "delegate_task"
    description = (
        "Hand a goal, or several independent ones as tasks, to workers that work at the same time, and get "
        "their answers. A worker sees nothing of this conversation: say all it must know. It has tools of "
        "yours alone (all, or those named in tools), and nobody approves calls for it: what needs a person's "
        "yes is refused there, and you may do it yourself afterwards."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["delegate_task"].parameters

    def __init__(
        self,
        workers: Workers,
        sites: CallSites,
        *,
        has_model: bool,
        shorten: ShortenTo,
        max_inline_chars: int,
    ) -> None:
        super().__init__(workers, sites, has_model=has_model)
        self._shorten, self._max_inline_chars = shorten, max_inline_chars

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        if ctx is None:
            return _problem("a worker needs the call it belongs to")
        tasks = tasks_of(params, ctx.allowed_tools)
        if isinstance(tasks, str):
            return _problem(tasks, "validation")
        site = self._site(ctx)
        started = await self._workers.start(site, tasks, max_turns=int(params.get("max_turns") or 0))
        if isinstance(started, str):
            return _problem(started, "business")
        ended = await self._ended(site, started)
        share = max(self._max_inline_chars // len(tasks) - _HEAD_CHARS, _LEAST_SHARE)
        texts = [await self._words(ctx, task, turn, share) for task, turn in zip(tasks, ended, strict=True)]
        output = "\n\n".join(
            f"Worker {number} of {len(texts)}{text}" for number, text in enumerate(texts, start=1)
        )
        if any(turn.state is TurnState.DONE for turn in ended):
            return ToolResult(True, output=output)
        return ToolResult(False, output=output, error="no worker got its task done", error_kind="business")

    async def _ended(self, site: CallSite, started: tuple[TurnId, ...]) -> tuple[TurnRecord, ...]:
        try:
            async with asyncio.timeout(_LONGEST_SECONDS):
                return await self._workers.ended(site, started)
        except TimeoutError:
            await self._workers.stop(started)
            return await self._workers.ended(site, started)

    async def _words(self, ctx: ToolExecutionContext, task: WorkerTask, turn: TurnRecord, share: int) -> str:
        head = f" {how_it_ended(turn)}: {clean_line(task.goal, _GOAL_CHARS)}"
        if not turn.result:
            return head
        return f"{head}\n{as_data('answer', await self._shorten(ctx, 'worker', turn.result, share))}"


class SpawnTaskTool(_Employing):
    """Goes on at once. The worker itself delivers what it came to."""

    name = "spawn_task"
    description = (
        "Start a worker in the background and go on. Its result comes to this chat as a message when it is "
        "done, and you see it at the next message. It sees nothing of this conversation: say in context what "
        "it must know. Nobody approves calls for it."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["spawn_task"].parameters

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        if ctx is None:
            return _problem("a worker needs the call it belongs to")
        goal, context = str(params["task"]), str(params.get("context") or "")
        tools = worker_tools(None, ctx.allowed_tools)
        if not goal.strip() or isinstance(tools, str):
            return _problem(tools if isinstance(tools, str) else "task is empty", "validation")
        task = WorkerTask(goal, tools, context)
        started = await self._workers.start(self._site(ctx), (task,), spawned=True)
        if isinstance(started, str):
            return _problem(started, "business")
        return ToolResult(
            True,
            output=f"Worker {started[0][:8]} works in the background. Its result comes to this chat.",
            metadata={"worker": started[0]},
        )


def tasks_of(params: dict[str, Any], allowed: frozenset[str]) -> Sequence[WorkerTask] | str:
    """The tasks of a call of delegate_task, or the sentence about the first that cannot be given."""
    if ("goal" in params) == ("tasks" in params):
        return "give either one goal or a list of tasks, not both"
    entries = params["tasks"] if "tasks" in params else [params["goal"]]
    if not entries:
        return "tasks is empty"
    tasks = []
    for number, entry in enumerate(entries, start=1):
        asked = {"goal": entry} if isinstance(entry, str) else entry
        tools = worker_tools(asked.get("tools", params.get("tools")), allowed)
        if isinstance(tools, str):
            return f"task {number}: {tools}" if len(entries) > 1 else tools
        goal = str(asked.get("goal") or "")
        if not goal.strip():
            return f"task {number} has no goal"
        tasks.append(WorkerTask(goal, tools, str(asked.get("context") or "")))
    return tasks


def how_it_ended(turn: TurnRecord) -> str:
    """A worker's end in a few words."""
    match turn.state:
        case TurnState.DONE:
            return "is done"
        case TurnState.FAILED:
            return f"did not get it done ({turn.error})"
        case TurnState.STOPPED:
            return "was stopped"
        case _:
            return "ended without a record, so what it did is not known"


def _problem(sentence: str, kind: ErrorKind = "internal") -> ToolResult:
    return ToolResult(False, error=sentence, error_kind=kind)
