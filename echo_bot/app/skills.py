"""The skills of a running bot and their tools, made from the configuration."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from echo_bot.config.model import Config
from echo_bot.config.places import absolute, data_dir, skill_folders, skills_dir
from echo_bot.files import FileDoor, content_identity
from echo_bot.net.clients import GuardedClients
from echo_bot.policy.call import BoundFile
from echo_bot.policy.guards.network import NetworkRules
from echo_bot.policy.settings import PolicySettings
from echo_bot.skills.calls import skill_looks
from echo_bot.skills.catalog import SkillCatalog, SkillPlaces
from echo_bot.skills.dependencies import Surrounding
from echo_bot.skills.errors import SkillError
from echo_bot.skills.git import GitFetcher
from echo_bot.skills.install import Installer
from echo_bot.skills.lock import LockFile
from echo_bot.skills.manifest import SKILL_FILE
from echo_bot.skills.sight import LookAtSkill
from echo_bot.skills.sources import SkillSources
from echo_bot.skills.starting import PYTHON_ELSEWHERE
from echo_bot.skills.tree import SkillTree
from echo_bot.tools.base import Tool, ToolExecutionContext
from echo_bot.tools.builtin.running import OnOutput, Place, Readiness, RunSettings, Shorten
from echo_bot.tools.builtin.skill_changing import SkillInstallTool, SkillManageTool
from echo_bot.tools.builtin.skill_reading import SkillsListTool, SkillViewTool
from echo_bot.tools.builtin.skill_running import SkillRunTool


@dataclass(frozen=True, slots=True)
class Running:
    """What skill_run shares with the other tools that run code."""

    settings: RunSettings
    place: Place
    shorten: Shorten
    on_output: OnOutput
    readiness: Readiness


@dataclass(frozen=True, slots=True)
class Skills:
    """The catalog, what the gate asks about calls, and the tools."""

    catalog: SkillCatalog
    look: LookAtSkill
    tools: tuple[Tool, ...]


def build_skills(
    config: Config,
    settings: PolicySettings,
    running: Running,
    door: Callable[[ToolExecutionContext | None], FileDoor],
    clock: Callable[[], datetime],
) -> Skills:
    """Nothing is read before a call, and no folder is made before an installation."""
    lock = LockFile(data_dir(config))
    places = SkillPlaces(
        installed=skills_dir(config), own=skill_folders(config), disabled=frozenset(config.skills.disabled)
    )
    catalog = SkillCatalog(places, lock)
    path = os.environ.get("PATH", "")
    python = str(absolute(config.skills.python)) if config.skills.python else sys.executable
    surrounding = Surrounding(python, path, os.environ, frozenset(config.tools.exec.env))
    rules = NetworkRules(settings.tools.network_policy, settings.tools.network_allow)
    sources = SkillSources(GuardedClients(rules), GitFetcher(rules, path), settings.places.workspace)
    installer = Installer(catalog, lock, clock)
    return Skills(
        catalog,
        skill_looks(catalog),
        (
            SkillsListTool(catalog, surrounding),
            SkillViewTool(catalog, surrounding),
            SkillRunTool(
                running.settings,
                catalog,
                surrounding,
                python_elsewhere=config.skills.python or PYTHON_ELSEWHERE,
                place=running.place,
                shorten=running.shorten,
                on_output=running.on_output,
                readiness=running.readiness,
            ),
            SkillInstallTool(installer, sources, surrounding, door),
            SkillManageTool(catalog, installer, sources, surrounding, door),
        ),
    )


def bound_content(path: str) -> BoundFile:
    """What an approval covers: a file's content, or all of a skill's folder."""
    if not os.path.isfile(os.path.join(path, SKILL_FILE)):
        return BoundFile(path, content_identity(path))
    try:
        return BoundFile(path, SkillTree(absolute(path)).digest())
    except SkillError:
        return BoundFile(path, "stat:unreadable")
