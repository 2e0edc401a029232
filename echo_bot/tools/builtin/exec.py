"""exec: run one bash command line to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar

from echo_bot.errors import StartError
from echo_bot.execution.collect import run_to_end
from echo_bot.execution.protocol import CommandSpec
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.risk import RiskLevel
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.builtin.running import (
    OnOutput,
    Place,
    Readiness,
    RunSettings,
    Shorten,
    folder_of,
    missing_folder,
    result_of,
    shell,
    timeout_of,
)


class ExecTool(Tool):
    """`place` says where the gate put this call; its output goes to `on_output` while it comes."""

    name = "exec"
    description = (
        "Run a bash command line and wait for its end. Returns the exit code and the output, stdout and "
        "stderr in order. Whatever it leaves running is ended with it: use process for what should go on."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["exec"].parameters
    capabilities = ("process.exec",)
    risk_level = RiskLevel.EXEC.value
    stream_capable = True

    def __init__(
        self,
        settings: RunSettings,
        *,
        place: Place,
        shorten: Shorten,
        on_output: OnOutput,
        readiness: Readiness,
    ) -> None:
        self._settings = settings
        self._place = place
        self._shorten = shorten
        self._on_output = on_output
        self._readiness = readiness

    def readiness_detail(self) -> tuple[bool, str]:
        return self._readiness()

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        folder = folder_of(params, self._settings.workspace)
        placed = self._place(ctx)
        if (refusal := await asyncio.to_thread(missing_folder, folder, placed.executor)) is not None:
            return refusal
        spec = CommandSpec(
            argv=shell(params["command"]),
            cwd=folder,
            timeout_seconds=timeout_of(params, self._settings.timeout_seconds),
            env=_environment_of(params),
            network=placed.network,
            merged=True,
            limits=self._settings.limits,
        )
        try:
            process = await placed.executor.start(spec)
        except StartError as error:
            return ToolResult(False, error=str(error), error_kind="dependency")
        collected = await run_to_end(
            process, self._settings.max_output_chars, lambda text: self._on_output(ctx, text)
        )
        return await result_of(
            collected, spec.timeout_seconds, placed.executor, lambda text: self._shorten(ctx, "exec", text)
        )


def _environment_of(params: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in (params.get("env") or {}).items()}
