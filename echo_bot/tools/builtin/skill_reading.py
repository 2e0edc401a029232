"""skills_list and skill_view: which skills there are, what they need, and what their files say."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, ClassVar

from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.risk import RiskLevel
from echo_bot.skills.catalog import Broken, Found, Origin, Skill, SkillCatalog, drift, scripts_of
from echo_bot.skills.dependencies import Surrounding
from echo_bot.skills.errors import SkillError
from echo_bot.skills.manifest import SKILL_FILE
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult

MAX_VIEWED_BYTES = 1024 * 1024


class SkillsListTool(Tool):
    """Reports what is missing and installs nothing."""

    name = "skills_list"
    description = "List the skills: name, description, where they come from, and what each still lacks."
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["skills_list"].parameters
    capabilities = ("skill.read",)
    risk_level = RiskLevel.READ_ONLY.value

    def __init__(self, catalog: SkillCatalog, surrounding: Surrounding) -> None:
        self._catalog, self._surrounding = catalog, surrounding

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        try:
            lines = await asyncio.to_thread(self._lines)
        except SkillError as error:
            return failed(error)
        return ToolResult(True, output="\n".join(lines))

    def _lines(self) -> list[str]:
        return list(listing(self._catalog.found(), self._surrounding)) or ["There are no skills."]


class SkillViewTool(Tool):
    """Shows a skill's instructions, or one file inside its folder."""

    name = "skill_view"
    description = (
        "Show a skill: its instructions, its scripts and files, what it still lacks. "
        "With file_path, show that file of the skill."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["skill_view"].parameters
    capabilities = ("skill.read",)
    risk_level = RiskLevel.READ_ONLY.value

    def __init__(self, catalog: SkillCatalog, surrounding: Surrounding) -> None:
        self._catalog, self._surrounding = catalog, surrounding

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        try:
            text = await asyncio.to_thread(
                self._text, str(params["name"]), str(params.get("file_path") or "")
            )
        except SkillError as error:
            return failed(error)
        return ToolResult(True, output=text)

    def _text(self, name: str, file_path: str) -> str:
        skill = self._catalog.get(name)
        if file_path and file_path != SKILL_FILE:
            return _as_text(file_path, skill.tree.read(file_path, MAX_VIEWED_BYTES))
        return "\n".join([*self._head(skill), "", skill.body])

    def _head(self, skill: Skill) -> Iterator[str]:
        manifest = skill.manifest
        yield from entry(skill, self._surrounding)
        if manifest.license:
            yield f"License: {manifest.license}"
        if manifest.compatibility:
            yield f"Compatibility: {manifest.compatibility}"
        if manifest.allowed_tools:
            names = ", ".join(manifest.allowed_tools)
            yield f"Tools it uses (a hint; every call is decided as always): {names}"
        yield f"Folder: {skill.folder}"
        for path, what in scripts_of(skill).items():
            yield f"Script {path}" + (f": {what}" if what else "")
        yield f"Files: {', '.join(file.path for file in skill.tree.files())}"


def listing(found: Found, surrounding: Surrounding) -> Iterator[str]:
    """Lines on every skill, and on every folder that should be one and is none."""
    for skill in found.skills:
        yield from entry(skill, surrounding)
    for broken in found.broken:
        yield _broken(broken)


def entry(skill: Skill, surrounding: Surrounding) -> Iterator[str]:
    """What it is, and whatever keeps it from being used."""
    manifest = skill.manifest
    version = f" {manifest.shown_version}" if manifest.shown_version else ""
    yield f"{skill.name}{version} ({_whence(skill)}): {manifest.description}"
    if skill.disabled_by:
        yield f"  switched off by {skill.disabled_by}"
    for advice in surrounding.advice(surrounding.missing(manifest.dependencies)):
        yield f"  lacks {advice}"
    if changed := _drift(skill):
        yield f"  cannot be run: {changed}"
    if skill.hides:
        yield f"  takes the place of another one of that name: {', '.join(skill.hides)}"


def failed(error: SkillError) -> ToolResult:
    return ToolResult(False, error=str(error), error_kind=error.kind)


def _whence(skill: Skill) -> str:
    if skill.origin is Origin.INSTALLED and skill.pin is not None and skill.pin.location:
        return f"installed from {skill.pin.source} {skill.pin.location.partition('?')[0]}"
    return {
        Origin.PACKAGED: "part of Echo Bot",
        Origin.INSTALLED: "installed",
        Origin.OWN: "in skills.paths",
    }[skill.origin]


def _drift(skill: Skill) -> str:
    try:
        return drift(skill)
    except SkillError as error:
        return str(error)


def _broken(broken: Broken) -> str:
    return f"{broken.name} ({broken.origin}) cannot be used: {broken.reason}"


def _as_text(path: str, data: bytes) -> str:
    if b"\0" in data[:8192]:
        return f"{path} is no text: {len(data):,} bytes"
    return data.decode("utf-8", "replace")
