"""What the gate is told of skill calls before anybody is asked: does the skill exist, may it run as it is?"""

from __future__ import annotations

from collections.abc import Callable

from echo_bot.policy.call import Arguments
from echo_bot.skills.catalog import Found, SkillCatalog, drift, script_path
from echo_bot.skills.errors import SkillError
from echo_bot.skills.sight import LookAtSkill, SkillSight

ACTIONS = ("create", "delete", "disable", "enable", "list", "pin", "remove", "update")
"""What skill_manage does; delete is another word for remove."""

NOTHING = SkillSight()


def skill_looks(catalog: SkillCatalog) -> LookAtSkill:
    """The look at calls of the tools that run or change skills; every other call is none of its business."""
    looks: dict[str, Callable[[SkillCatalog, Arguments], SkillSight]] = {
        "skill_run": _run,
        "skill_manage": _manage,
    }

    def look(tool: str, args: Arguments) -> SkillSight:
        if tool not in looks:
            return NOTHING
        try:
            return looks[tool](catalog, args)
        except SkillError as error:
            return SkillSight(problem=f"{tool}: {error}")

    return look


def _run(catalog: SkillCatalog, args: Arguments) -> SkillSight:
    skill = catalog.get(str(args.get("name", "")))
    if skill.disabled_by:
        return SkillSight(denial=f"the skill {skill.name} is switched off ({skill.disabled_by})")
    script_path(skill, str(args.get("script", "")))
    return SkillSight(denial=drift(skill), folder=str(skill.folder))


def _manage(catalog: SkillCatalog, args: Arguments) -> SkillSight:
    action = str(args.get("action", ""))
    if action not in ACTIONS:
        return SkillSight(problem=f"skill_manage: action must be one of {', '.join(ACTIONS)}")
    name = str(args.get("name", ""))
    if action not in ("create", "list") and name not in _names(catalog.found()):
        catalog.get(name)
    return NOTHING


def _names(found: Found) -> set[str]:
    return {skill.name for skill in found.skills} | {broken.name for broken in found.broken}
