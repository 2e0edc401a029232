"""skill_run: run one of a skill's Python scripts, in the skill's folder, by the installed Python."""

from __future__ import annotations

import asyncio
import os
from typing import Any, ClassVar

from echo_bot.errors import StartError
from echo_bot.execution.collect import run_to_end
from echo_bot.execution.protocol import CommandSpec
from echo_bot.policy.call import Executor
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.risk import RiskLevel
from echo_bot.skills.catalog import Skill, SkillCatalog, drift, script_path
from echo_bot.skills.dependencies import Surrounding
from echo_bot.skills.errors import SkillError
from echo_bot.skills.starting import PYTHON_ELSEWHERE, carried, command_elsewhere, command_here
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.builtin.running import (
    OnOutput,
    Place,
    Placed,
    Readiness,
    RunSettings,
    Shorten,
    result_of,
    timeout_of,
)
from echo_bot.tools.builtin.skill_reading import failed

_ELSEWHERE = frozenset({Executor.CONTAINER, Executor.REMOTE})
"""Where the skill's folder is not: it is carried along, and what is installed there shows when it runs."""


class SkillRunTool(Tool):
    """The script's folder is the first it imports from; WORKSPACE names the folder of the user's files."""

    name = "skill_run"
    description = (
        "Run a Python script of a skill with arguments and wait for its end. It starts in the skill's "
        "folder; name the user's files by absolute paths, or relative to the workspace where skill_view "
        "says so."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["skill_run"].parameters
    capabilities = ("skill.read", "process.exec", "code.exec")
    risk_level = RiskLevel.EXEC.value
    stream_capable = True

    def __init__(
        self,
        settings: RunSettings,
        catalog: SkillCatalog,
        surrounding: Surrounding,
        *,
        python_elsewhere: str = PYTHON_ELSEWHERE,
        place: Place,
        shorten: Shorten,
        on_output: OnOutput,
        readiness: Readiness,
    ) -> None:
        self._settings, self._catalog, self._surrounding = settings, catalog, surrounding
        self._python_elsewhere = python_elsewhere
        self._place, self._shorten, self._on_output = place, shorten, on_output
        self._readiness = readiness

    def readiness_detail(self) -> tuple[bool, str]:
        ready, why = self._readiness()
        return python_readiness(self._surrounding.python) if ready else (ready, why)

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        placed = self._place(ctx)
        try:
            spec = await asyncio.to_thread(self._spec, params, placed)
        except SkillError as error:
            return failed(error)
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
            lambda text: self._shorten(ctx, "skill_run", text),
        )

    def _spec(self, params: dict[str, Any], placed: Placed) -> CommandSpec:
        """What to start, from the skill as it is now."""
        elsewhere = placed.executor.kind in _ELSEWHERE
        skill, script = self._checked(str(params["name"]), str(params["script"]), here=not elsewhere)
        args = [str(each) for each in params.get("args") or ()]
        workspace, python = self._settings.workspace, self._surrounding.python
        if elsewhere:
            argv = command_elsewhere(self._python_elsewhere, script, args)
        else:
            argv = command_here(python, script, args)
        return CommandSpec(
            argv=argv,
            cwd=workspace if elsewhere else str(skill.folder),
            timeout_seconds=timeout_of(params, self._settings.timeout_seconds),
            env={"WORKSPACE": workspace, **({} if elsewhere else {"SKILL_FOLDER": str(skill.folder)})},
            stdin=carried(skill.tree.read_all()) if elsewhere else b"",
            network=placed.network,
            merged=True,
            limits=self._settings.limits,
        )

    def _checked(self, name: str, script: str, *, here: bool) -> tuple[Skill, str]:
        """The skill and the path of its script: pinned, whole, and `here` with all that it needs."""
        skill = self._catalog.get(name)
        if skill.disabled_by:
            raise SkillError(f"the skill {name} is switched off ({skill.disabled_by})", "denied")
        path = script_path(skill, script)
        if changed := drift(skill):
            raise SkillError(changed, "denied")
        missing = self._surrounding.missing(skill.manifest.dependencies) if here else None
        if missing:
            lacks = "; ".join(self._surrounding.advice(missing))
            raise SkillError(f"the skill {name} lacks {lacks}", "dependency")
        return skill, path


def python_readiness(python: str) -> tuple[bool, str]:
    """Is the interpreter there?"""
    if os.access(python, os.X_OK) and os.path.isfile(python):
        return True, "ready"
    return (
        False,
        f"{python} is not a program; correct skills.python, or leave it empty for the bot's own Python",
    )
