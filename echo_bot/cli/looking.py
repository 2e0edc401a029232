"""What `status` knows, each thing from the cheapest source that holds: it only reads, and opens no store.

A configuration that a start has accepted is known by its digest and need not be checked again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from echo_bot import __version__
from echo_bot.cli.sight import Account, Sight, look_at_bot
from echo_bot.config.finding import read_config, user_config_path
from echo_bot.config.fingerprint import file_digest
from echo_bot.config.glance import Glance
from echo_bot.errors import ConfigError

if TYPE_CHECKING:
    from echo_bot.tools.registry import ToolState


@dataclass(frozen=True, slots=True)
class Tools:
    """Every tool's name, state and reason, and the model and the warnings of the same configuration.

    `is_remembered`: a bot that no longer runs said so at its start.
    """

    rows: list[dict[str, str]]
    warnings: list[str]
    configured_model: str = ""
    is_remembered: bool = False


@dataclass(frozen=True, slots=True)
class Status:
    """`refusal`: why a restart would refuse the configuration that was changed since the start."""

    sight: Sight
    config_changed: bool
    refusal: str
    tools: Tools
    now: datetime

    @property
    def config(self) -> str:
        """The running bot's file, or the one that a start would read; "" for none."""
        return self.sight.text("config") if self.sight.account else str(self.sight.glance.file or "")

    @property
    def channels(self) -> list[dict[str, str]]:
        return _entries(self.sight.account, "channels")

    @property
    def mcp_servers(self) -> list[dict[str, str]]:
        return _entries(self.sight.account, "mcp_servers")


def look(config_path: Path | None, environ: Mapping[str, str], now: datetime) -> Status:
    """Raises ConfigError, and StorageError for a damaged or foreign database."""
    sight = look_at_bot(config_path, environ, now)
    if not sight.account:
        tools = _tools_of_a_start(sight.glance, sight.seen.health, config_path)
        return Status(sight, config_changed=False, refusal="", tools=tools, now=now)
    changed = _is_changed(sight.account)
    refusal = _refusal(sight.account, environ) if changed else ""
    return Status(sight, config_changed=changed, refusal=refusal, tools=_told(sight.account), now=now)


def _is_changed(account: Account) -> bool:
    """Is the file of the running bot another one now than at its start? Then a restart is due."""
    path = str(account.get("config") or "")
    if not path:
        return user_config_path().exists()
    try:
        return file_digest(read_config(Path(path))) != account.get("config_digest")
    except ConfigError:
        return True


def _refusal(account: Account, environ: Mapping[str, str]) -> str:
    from echo_bot.app.discovery import discover_channels
    from echo_bot.config.loader import load_config

    path = str(account.get("config") or "")
    try:
        load_config(Path(path) if path else None, environ, discover_channels().manifests.values())
    except ConfigError as error:
        return str(error)
    return ""


def _tools_of_a_start(found: Glance, last: Account, config_path: Path | None) -> Tools:
    """What a start with this configuration would offer."""
    if _is_same(found, last):
        return replace(_told(last), is_remembered=True)
    if found.is_plain:
        return _defaults()
    return _by_configuration(config_path)


def _is_same(found: Glance, last: Account) -> bool:
    """Was the last bot of this version started with exactly this configuration?"""
    return (
        last.get("version"),
        last.get("config"),
        last.get("config_digest"),
        last.get("environment_digest"),
    ) == (__version__, str(found.file or ""), found.file_digest, found.environment_digest)


def _told(account: Account) -> Tools:
    warnings = account.get("warnings")
    return Tools(
        _entries(account, "tools"),
        [str(each) for each in warnings] if isinstance(warnings, list) else [],
        str(account.get("configured_model") or ""),
    )


def _defaults() -> Tools:
    from echo_bot.app.tool_states import default_states

    return Tools(_rows(default_states(os.environ.get("PATH", ""))), [])


def _by_configuration(config_path: Path | None) -> Tools:
    """Raises ConfigError for a configuration that a start would refuse, StorageError for a damaged store."""
    import asyncio

    from echo_bot.app.rehearsal import NothingStored
    from echo_bot.app.tool_states import ToolsOfAStart, tools_of_a_start
    from echo_bot.cli.state import find_place, is_empty
    from echo_bot.storage.store import SqlStore, sqlite_url

    place = find_place(config_path)
    loaded = place.loaded

    async def rehearsed() -> ToolsOfAStart:
        store = SqlStore(sqlite_url(place.database))
        sealed = NothingStored() if is_empty(place) else store.sealed
        try:
            return await tools_of_a_start(loaded, place.manifests, store, sealed, os.environ)
        finally:
            await store.close()

    found = asyncio.run(rehearsed())
    return Tools(_rows(found.states), [*loaded.warnings, *found.broken], loaded.config.models.default)


def _rows(states: tuple[ToolState, ...]) -> list[dict[str, str]]:
    return [{"name": each.name, "state": each.state.value, "reason": each.reason} for each in states]


def _entries(account: Account, name: str) -> list[dict[str, str]]:
    """A list of named things in a bot's account."""
    found = account.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
