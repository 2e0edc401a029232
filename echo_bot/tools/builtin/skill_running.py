"""skill_run: run one of a skill's Python scripts, in the skill's folder, by the installed Python."""

from __future__ import annotations

import asyncio
import os
from typing import Any, ClassVar

from echo_bot.errors import StartError
from echo_bot.execution.collect import run_to_end
from echo_bot.execution.protocol import CommandSpec
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.risk import RiskLevel
from echo_bot.skills.catalog import Skill, SkillCatalog, drift, script_path
from echo_bot.skills.dependencies import Surrounding
from echo_bot.skills.errors import SkillError
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.builtin.running import (
    OnOutput,
    Place,
    Readiness,
    RunSettings,
    Shorten,
    result_of,
    timeout_of,
)
from echo_bot.tools.builtin.skill_reading import failed

_PYTHON_OPTIONS = ("-u", "-B", "-X", "pycache_prefix=/dev/null")
"""Nothing is compiled into the skill's folder, and nothing compiled is taken from it."""


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
        place: Place,
        shorten: Shorten,
        on_output: OnOutput,
        readiness: Readiness,
    ) -> None:
        self._settings, self._catalog, self._surrounding = settings, catalog, surrounding
        self._place, self._shorten, self._on_output = place, shorten, on_output
        self._readiness = readiness

    def readiness_detail(self) -> tuple[bool, str]:
        ready, why = self._readiness()
        return python_readiness(self._surrounding.python) if ready else (ready, why)

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        try:
            skill, script = await asyncio.to_thread(self._checked, str(params["name"]), str(params["script"]))
        except SkillError as error:
            return failed(error)
        placed = self._place(ctx)
        spec = CommandSpec(
            argv=(self._surrounding.python, *_PYTHON_OPTIONS, script, *map(str, params.get("args") or ())),
            cwd=str(skill.folder),
            timeout_seconds=timeout_of(params, self._settings.timeout_seconds),
            env={"WORKSPACE": self._settings.workspace, "SKILL_FOLDER": str(skill.folder)},
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
            lambda text: self._shorten(ctx, "skill_run", text),
        )

    def _checked(self, name: str, script: str) -> tuple[Skill, str]:
        """The skill and the path of its script, as they are now: pinned, whole, with all it needs."""
        skill = self._catalog.get(name)
        if skill.disabled_by:
            raise SkillError(f"the skill {name} is switched off ({skill.disabled_by})", "denied")
        path = script_path(skill, script)
        if changed := drift(skill):
            raise SkillError(changed, "denied")
        missing = self._surrounding.missing(skill.manifest.dependencies)
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
