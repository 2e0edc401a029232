"""process: start a command that goes on, read it, type into it, signal it, stop it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar

from echo_bot.errors import StartError
from echo_bot.execution.background import BackgroundProcesses, OwnedProcess, TooManyProcesses
from echo_bot.execution.protocol import CommandSpec, Outcome
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.risk import RiskLevel
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.builtin.running import (
    Place,
    Readiness,
    RunSettings,
    Shorten,
    folder_of,
    missing_folder,
    shell,
    warning_of,
)

MAX_SECONDS = 24 * 3600.0
FIRST_LOOK_SECONDS = 0.3

_Action = Callable[[Mapping[str, Any], ToolExecutionContext | None], Awaitable[ToolResult]]


class ProcessTool(Tool):
    """A session's own processes; those of others are as if they were not there."""

    name = "process"
    description = (
        "Background processes of this conversation. start runs a bash command line and returns its "
        "process_id; poll gives its state and what it wrote since the last poll; write sends text to its "
        "standard input exactly as given (end a line with a newline); signal sends a signal such as INT; "
        "stop ends it; list shows all. They end with the conversation."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["process"].parameters
    capabilities = ("process.exec", "process.manage")
    risk_level = RiskLevel.EXEC.value

    def __init__(
        self,
        settings: RunSettings,
        processes: BackgroundProcesses,
        *,
        place: Place,
        shorten: Shorten,
        readiness: Readiness,
    ) -> None:
        self._settings = settings
        self._processes = processes
        self._place = place
        self._shorten = shorten
        self._readiness = readiness
        self._actions: Mapping[str, _Action] = {
            "start": self._start,
            "list": self._list,
            "poll": self._poll,
            "write": self._write,
            "signal": self._signal,
            "stop": self._stop,
        }

    def readiness_detail(self) -> tuple[bool, str]:
        return self._readiness()

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        return await self._actions[params["action"]](params, ctx)

    async def _start(self, params: Mapping[str, Any], ctx: ToolExecutionContext | None) -> ToolResult:
        command = params.get("command")
        if not command:
            return _invalid("start needs a command")
        folder = folder_of(params, self._settings.workspace)
        placed = self._place(ctx)
        if (refusal := await asyncio.to_thread(missing_folder, folder, placed.executor)) is not None:
            return refusal
        spec = CommandSpec(
            argv=shell(command),
            cwd=folder,
            timeout_seconds=MAX_SECONDS,
            network=placed.network,
            merged=True,
            limits=self._settings.limits,
        )
        try:
            owned = await self._processes.start(_session(ctx), placed.executor, spec, command)
        except TooManyProcesses as error:
            return ToolResult(False, error=str(error), error_kind="business")
        except StartError as error:
            return ToolResult(False, error=str(error), error_kind="dependency")
        await owned.ended_within(FIRST_LOOK_SECONDS)
        return await self._report(owned, ctx)

    async def _list(self, params: Mapping[str, Any], ctx: ToolExecutionContext | None) -> ToolResult:
        lines = [
            f"{owned.process_id}  {_state(owned)}  {owned.command}"
            for owned in self._processes.of(_session(ctx))
        ]
        return ToolResult(True, output="\n".join(lines) or "no processes")

    async def _poll(self, params: Mapping[str, Any], ctx: ToolExecutionContext | None) -> ToolResult:
        owned = self._find(params, ctx)
        return _unknown(params) if owned is None else await self._report(owned, ctx)

    async def _write(self, params: Mapping[str, Any], ctx: ToolExecutionContext | None) -> ToolResult:
        owned, text = self._find(params, ctx), params.get("text")
        if owned is None:
            return _unknown(params)
        if not text:
            return _invalid("write needs a text")
        if not owned.is_running:
            return _ended(owned)
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                await owned.write(text)
        except BrokenPipeError:
            return ToolResult(False, error=f"{owned.process_id} takes no more input", error_kind="business")
        except TimeoutError:
            error = f"{owned.process_id} has not read its input for {self._settings.timeout_seconds:g} s"
            return ToolResult(False, error=error, error_kind="timeout")
        await owned.ended_within(FIRST_LOOK_SECONDS)
        return await self._report(owned, ctx)

    async def _signal(self, params: Mapping[str, Any], ctx: ToolExecutionContext | None) -> ToolResult:
        owned = self._find(params, ctx)
        if owned is None:
            return _unknown(params)
        number = parse_signal(params.get("signal", "TERM"))
        if number is None:
            return _invalid(
                f"{params['signal']!r} is no signal; use a name such as INT, TERM or HUP, or a number"
            )
        if not owned.is_running:
            return _ended(owned)
        await owned.process.signal(number)
        await owned.ended_within(FIRST_LOOK_SECONDS)
        return await self._report(owned, ctx)

    async def _stop(self, params: Mapping[str, Any], ctx: ToolExecutionContext | None) -> ToolResult:
        owned = self._find(params, ctx)
        if owned is None:
            return _unknown(params)
        await owned.stop()
        return await self._report(owned, ctx)

    def _find(self, params: Mapping[str, Any], ctx: ToolExecutionContext | None) -> OwnedProcess | None:
        return self._processes.find(_session(ctx), str(params.get("process_id", "")))

    async def _report(self, owned: OwnedProcess, ctx: ToolExecutionContext | None) -> ToolResult:
        """State and new output. That a process failed is news, not a failure of asking."""
        text = self._processes.read(owned)
        head = f"{owned.process_id}: {_state(owned)}"
        body = await self._shorten(ctx, f"process-{owned.process_id}", text) if text else ""
        if owned.outcome is not None and owned.outcome.appeared:
            body = f"{warning_of(owned.outcome.appeared)}\n{body}"
        return ToolResult(
            True,
            output=f"{head}\n{body}" if body else f"{head}, no new output",
            metadata={
                "process_id": owned.process_id,
                "running": owned.is_running,
                "exit_code": owned.outcome.exit_code if owned.outcome else None,
            },
        )


def parse_signal(value: object) -> int | None:
    """A signal by name (INT, SIGINT) or number; None for anything that is none."""
    text = str(value).strip().upper()
    try:
        if text.isdecimal():
            return int(signal.Signals(int(text)))
        return int(signal.Signals[text if text.startswith("SIG") else f"SIG{text}"])
    except (ValueError, KeyError):
        return None


def _session(ctx: ToolExecutionContext | None) -> str:
    return ctx.session_key if ctx is not None else ""


def _state(owned: OwnedProcess) -> str:
    match owned.outcome:
        case None:
            return "running"
        case Outcome(exit_code=int(code)):
            return f"ended with exit code {code}"
        case Outcome(killed_by=reason):
            return f"killed ({reason})"


def _invalid(error: str) -> ToolResult:
    return ToolResult(False, error=error, error_kind="validation")


def _unknown(params: Mapping[str, Any]) -> ToolResult:
    asked = params.get("process_id")
    error = (
        f"there is no process {asked!r} here; list shows what there is" if asked else "a process_id is needed"
    )
    return ToolResult(False, error=error, error_kind="business" if asked else "validation")


def _ended(owned: OwnedProcess) -> ToolResult:
    return ToolResult(False, error=f"{owned.process_id} has {_state(owned)}", error_kind="business")
