"""Explaining a call as this installation would judge it: its configuration, plugins, grants and sandbox."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from echo_bot.app.discovery import own_tools
from echo_bot.approval.approvers import read_paired
from echo_bot.approval.gather import Asked, Surroundings, gather
from echo_bot.cli.explaining import Case, digest_or_none
from echo_bot.cli.state import Place, find_place, is_empty
from echo_bot.config.credentials import missing_key
from echo_bot.config.key_variable import KEY_VARIABLE, empty_variables
from echo_bot.config.loader import Loaded
from echo_bot.config.places import tool_files
from echo_bot.config.policy import policy_settings
from echo_bot.errors import StartError
from echo_bot.events import SessionKey
from echo_bot.policy.access import may_speak
from echo_bot.policy.call import Executor
from echo_bot.policy.capabilities import MCP_CALL
from echo_bot.policy.catalogue import CATALOGUE, is_mcp_name
from echo_bot.policy.facts import Facts
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.settings import PolicySettings
from echo_bot.storage.protocol import McpDefinitions


def facts_here(
    case: Case, config_path: Path | None, executor: str | None, *, interactive: bool
) -> tuple[Facts, bool]:
    """The facts of a call under the real configuration, and may its sender speak to the bot at all?

    Raises ConfigError and StartError like a start. `interactive`: somebody sits at the terminal, which counts
    for calls from there alone.
    """
    place = find_place(config_path)
    loaded = place.loaded
    variable = loaded.config.credentials.encryption_key_env
    has_key = any(os.environ.get(name, "").strip() for name in (variable, KEY_VARIABLE))
    empty = empty_variables(os.environ, variable)
    refusal = missing_key(loaded.config, has_key, loaded.yaml_credentials, empty=empty)
    if refusal:
        raise StartError(refusal)
    settings = policy_settings(loaded.config, config_path=loaded.path, manifests=place.manifests)
    facts = asyncio.run(_facts(case, place, settings, executor, interactive))
    return facts, may_speak(facts.caller.sender, settings.access, facts.caller.paired)


async def _facts(
    case: Case, place: Place, settings: PolicySettings, executor: str | None, interactive: bool
) -> Facts:
    lands = Executor(executor) if executor else await _auto_lands_on(settings)
    caller = replace(case.caller, interactive=interactive and case.caller.sender.channel == "cli")
    asked = _declared(case.asked, place.loaded)
    surroundings = Surroundings(auto_lands_on=lands)
    if is_empty(place):
        return gather(asked, caller, settings, surroundings)
    return await _with_store(asked, replace(case, caller=caller), settings, surroundings, place)


async def _with_store(
    asked: Asked, case: Case, settings: PolicySettings, surroundings: Surroundings, place: Place
) -> Facts:
    """The facts with what the store knows: who is paired, what was granted, what servers listed.

    Nothing is written.
    """
    from echo_bot.storage.store import SqlStore, sqlite_url

    store = SqlStore(sqlite_url(place.database))
    try:
        if is_mcp_name(asked.tool):
            asked, surroundings = await _served(asked, surroundings, place, store.mcp)
        caller = replace(case.caller, paired=await read_paired(store.people))
        facts = gather(asked, caller, settings, surroundings)
        wanted = digest_or_none(facts)
        if wanted is None:
            return facts
        found = await store.grants.match(str(caller.sender), wanted, SessionKey(""), datetime.now(UTC))
        return replace(facts, granted=found is not None)
    finally:
        await store.close()


async def _served(
    asked: Asked, surroundings: Surroundings, place: Place, definitions: McpDefinitions
) -> tuple[Asked, Surroundings]:
    """The call with what the server of its tool said last, and how that stands."""
    from echo_bot.app.mcp import known_tools
    from echo_bot.mcp.servers import sight_of

    known = known_tools(place.loaded.config, await definitions.list()).get(asked.tool)
    if known is None:
        return asked, surroundings
    sight = sight_of(known.offered)
    declared = replace(
        asked,
        declared_risk=known.risk or RiskLevel.EXEC.value,
        capabilities=(MCP_CALL,),
        parameters=known.offered.standing.schema,
    )
    return declared, replace(surroundings, look_at_definition=lambda tool: sight)


async def _auto_lands_on(settings: PolicySettings) -> Executor:
    """Where `auto` runs code on this machine, found out by running the sandbox once."""
    if settings.exec_host is not None:
        return settings.exec_host
    from echo_bot.execution.environment import clean_environment
    from echo_bot.execution.layout import default_layout
    from echo_bot.execution.sandbox import SandboxExecutor

    places = settings.places
    layout = default_layout(places.workspace, places.home, places.protected, places.protected_write)
    environment = clean_environment(os.environ, home=places.home, tmpdir="/tmp")
    works, _ = await SandboxExecutor(layout, environment).ready()
    return Executor.SANDBOX if works else Executor.LOCAL


def _declared(asked: Asked, loaded: Loaded) -> Asked:
    """The call with what the user's own tool of that name declares."""
    if asked.tool in CATALOGUE:
        return asked
    for tool, _ in own_tools(tool_files(loaded.config)).tools:
        if tool.name == asked.tool:
            return replace(
                asked,
                declared_risk=tool.risk_level,
                capabilities=tuple(tool.capabilities),
                parameters=tool.parameters,
            )
    return asked
