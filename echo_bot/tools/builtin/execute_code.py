"""execute_code: run a program in Python, JavaScript or bash. The code never stands on a command line."""

from __future__ import annotations

from typing import Any, ClassVar

from echo_bot.errors import StartError
from echo_bot.execution.collect import run_to_end
from echo_bot.execution.protocol import CommandSpec
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.risk import RiskLevel
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.builtin.interpreters import INTERPRETERS, has_interpreter, languages_readiness
from echo_bot.tools.builtin.running import (
    OnOutput,
    Place,
    Readiness,
    RunSettings,
    Shorten,
    result_of,
    timeout_of,
)


class ExecuteCodeTool(Tool):
    """`languages` are the enabled ones; `path` is the PATH that programs will have; None: that
    of another machine."""

    name = "execute_code"
    description = (
        "Run a program in python, javascript or bash, in the workspace, and wait for its end. Returns the "
        "exit code and the output. It has no standard input."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["execute_code"].parameters
    capabilities = ("code.exec", "process.exec")
    risk_level = RiskLevel.EXEC.value
    stream_capable = True

    def __init__(
        self,
        settings: RunSettings,
        languages: tuple[str, ...],
        *,
        path: str | None,
        place: Place,
        shorten: Shorten,
        on_output: OnOutput,
        readiness: Readiness,
    ) -> None:
        self._settings = settings
        self._languages = languages
        self._path = path
        self._place = place
        self._shorten = shorten
        self._on_output = on_output
        self._readiness = readiness

    def readiness_detail(self) -> tuple[bool, str]:
        """Ready while one enabled language can run; the sentence names those that cannot."""
        ready, why = self._readiness()
        return languages_readiness(self._languages, self._path) if ready else (ready, why)

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        language = params["language"]
        if (refusal := self._refusal(language)) is not None:
            return refusal
        placed = self._place(ctx)
        spec = CommandSpec(
            argv=INTERPRETERS[language].argv,
            cwd=self._settings.workspace,
            timeout_seconds=timeout_of(params, self._settings.timeout_seconds),
            stdin=params["code"].encode("utf-8", "surrogatepass"),
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
            collected,
            spec.timeout_seconds,
            placed.executor,
            lambda text: self._shorten(ctx, "execute_code", text),
        )

    def _refusal(self, language: str) -> ToolResult | None:
        if language not in self._languages:
            enabled = ", ".join(self._languages) or "none"
            error = f"{language} is not enabled (tools.code_exec.languages: {enabled})"
            return ToolResult(False, error=error, error_kind="business")
        if not has_interpreter(language, self._path):
            interpreter = INTERPRETERS[language]
            error = f"{interpreter.binary} is not on PATH; {interpreter.get}"
            return ToolResult(False, error=error, error_kind="dependency")
        return None
