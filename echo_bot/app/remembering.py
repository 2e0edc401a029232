"""The tools that look back: memory, session_search, and the knowledge tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from echo_bot.approval.approvers import read_paired
from echo_bot.config.model import Config
from echo_bot.events import Identity
from echo_bot.policy.access import is_admin
from echo_bot.policy.settings import PolicySettings
from echo_bot.storage.protocol import People, Store
from echo_bot.tools.base import Tool
from echo_bot.tools.builtin.memory import MemoryLimits, MemoryTool
from echo_bot.tools.builtin.session_search import SessionSearchTool
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
