"""The doctor's round: the configuration first, then everything that it names."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from echo_bot.app.discovery import Discovered, discover_channels, foreign_channels
from echo_bot.cli.doctor import channels, configuration, jobs, machine, mcp, state, tools
from echo_bot.cli.doctor.finding import Finding, Severity
from echo_bot.cli.doctor.scene import Scene
from echo_bot.cli.guarded import refuse_inside_bot
from echo_bot.cli.sight import look_at_bot
from echo_bot.cli.state import Place
from echo_bot.config.loader import examine_config
from echo_bot.config.places import database_url
from echo_bot.errors import EchoBotError, StorageError
from echo_bot.storage.sqlite_file import database_path


def examine(
    config_path: Path | None, environ: Mapping[str, str], now: datetime, *, online: bool = False
) -> tuple[Finding, ...]:
    """Every finding, area by area. Raises StartError when the bot itself asks online, with its tokens."""
    discovered = discover_channels()
    manifests = tuple(discovered.manifests.values())
    examined = examine_config(config_path, environ, manifests)
    found = [*_installed(discovered), *configuration.of_file(examined)]
    if examined.loaded is None:
        return tuple(found)
    try:
        place = Place(examined.loaded, manifests, database_path(database_url(examined.loaded.config)))
    except EchoBotError as error:
        return (*found, Finding("configuration", Severity.BROKEN, str(error)))
    try:
        sight = look_at_bot(config_path, environ, now)
    except StorageError as error:
        return (*found, *state.of_files(place), Finding("database", Severity.BROKEN, str(error)))
    scene = Scene(place, discovered, sight, environ, now)
    found += asyncio.run(_of_a_start(scene))
    found += state.of_files(place)
    found += asyncio.run(state.of_database(scene))
    found += jobs.of_jobs(scene)
    found += machine.of_machine(scene)
    found += mcp.of_servers(scene)
    found += channels.of_bot(scene)
    found += channels.of_people(scene)
    found += channels.of_webhooks(scene)
    if online:
        refuse_inside_bot(place.database)
        found += asyncio.run(channels.of_platforms(scene))
    return tuple(found)


async def _of_a_start(scene: Scene) -> list[Finding]:
    try:
        return [*(await configuration.of_start(scene)), *(await tools.of_tools(scene))]
    except EchoBotError as error:
        return [Finding("configuration", Severity.BROKEN, str(error))]


def _installed(discovered: Discovered) -> Iterator[Finding]:
    """Plugins that do not load, and a package of somebody else in the place of ours."""
    for sentence in discovered.broken.values():
        yield Finding("installation", Severity.BROKEN, sentence)
    if others := foreign_channels():
        yield Finding(
            "installation",
            Severity.BROKEN,
            f"{', '.join(others)} installs a package named channels too, which may take the place of ours",
            "give Echo Bot an environment of its own: python3 -m venv .venv, and install it there",
        )
