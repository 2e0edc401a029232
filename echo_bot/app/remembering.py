"""The tools that look back: memory, session_search, and the knowledge tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from echo_bot.approval.approvers import read_paired
from echo_bot.config.model import Config
from echo_bot.config.places import data_dir
from echo_bot.events import Identity
from echo_bot.files import FileDoor, real_rules
from echo_bot.policy.access import is_admin
from echo_bot.policy.guards.paths import PathRules
from echo_bot.policy.settings import PlaceSettings, PolicySettings
from echo_bot.storage.knowledge import KnowledgeIndex
from echo_bot.storage.protocol import People, Store
from echo_bot.tools.base import Tool, ToolExecutionContext
from echo_bot.tools.builtin.knowledge import Knowledge, KnowledgeIndexTool, KnowledgeSearchTool
from echo_bot.tools.builtin.memory import MemoryLimits, MemoryTool
from echo_bot.tools.builtin.session_search import SessionSearchTool
from echo_bot.tools.builtin.workspace import Workspace
from echo_bot.tools.knowledge import Documents
from echo_bot.tools.sites import CallSites


class Recorder(Protocol):
    async def record(self, kind: str, **fields: object) -> None: ...


@dataclass(frozen=True, slots=True)
class Witnesses:
    """What these tools need beside the store: who was paired, the audit, what hides secrets, and the time."""

    people: People
    audit: Recorder
    mask: Callable[[str], str]
    clock: Callable[[], datetime]


def remembering_tools(
    config: Config, settings: PolicySettings, store: Store, sites: CallSites, witnesses: Witnesses
) -> tuple[Tool, ...]:
    limits = MemoryLimits(config.memory.max_entries, config.memory.max_entry_chars)

    async def asks_as_admin(sender: Identity) -> bool:
        return is_admin(sender, settings.access, await read_paired(witnesses.people))

    return (
        MemoryTool(
            store.memories, sites, witnesses.audit, limits, mask=witnesses.mask, clock=witnesses.clock
        ),
        SessionSearchTool(store.sessions, sites, asks_as_admin),
    )


def knowledge_tools(
    config: Config,
    places: PlaceSettings,
    workspace: Workspace,
    tell: Callable[[ToolExecutionContext | None, str], None],
    clock: Callable[[], datetime],
) -> tuple[Tool, ...]:
    """`tell` takes the progress of a run, for whom it runs."""
    knowledge = knowledge_of(config, places, lambda: operator_door(places), clock)
    return KnowledgeSearchTool(knowledge, workspace, tell), KnowledgeIndexTool(knowledge, workspace, tell)


def knowledge_of(
    config: Config, places: PlaceSettings, door: Callable[[], FileDoor], clock: Callable[[], datetime]
) -> Knowledge:
    """`door` reads the configured places, for no caller in particular."""
    documents = Documents(places.workspace, config.knowledge.extensions, config.knowledge.chunk_chars)
    index = KnowledgeIndex(data_dir(config) / "knowledge.db")
    return Knowledge(index, documents, config.knowledge.paths, door, clock)


def operator_door(places: PlaceSettings) -> FileDoor:
    """What the operator's own configuration lets be read."""
    rules = PathRules(
        workspace=places.workspace,
        restrict_to_workspace=places.restrict_to_workspace,
        home=places.home,
        protected=places.protected,
        protected_write=places.protected_write,
    )
    return FileDoor(real_rules(rules))
