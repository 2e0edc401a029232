"""What `config check` finds: the errors of the configuration itself, then what a start with it would say."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from echo_bot.app.discovery import Discovered
from echo_bot.app.rehearsal import NothingStored, Rehearsal, rehearse
from echo_bot.called import command
from echo_bot.channel import ChannelManifest
from echo_bot.cli.guarded import refuse_inside_bot
from echo_bot.cli.state import Place, is_empty
from echo_bot.config.finding import user_config_path
from echo_bot.config.glance import glance
from echo_bot.config.loader import Loaded, examine_config
from echo_bot.config.places import database_url
from echo_bot.errors import EchoBotError
from echo_bot.storage.sqlite_file import database_path


@dataclass(frozen=True, slots=True)
class Checked:
    """`errors` refuse a start. `loaded` is None when the configuration itself is wrong."""

    path: Path | None
    loaded: Loaded | None = None
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=())

    def lines(self) -> Iterator[str]:
        """Everything but the errors, for people."""
        if self.path is None:
            yield f"no configuration file (looked for {user_config_path()}): the defaults hold"
        elif not self.errors:
            yield f"{self.path}: ok"
        for key in self.loaded.from_environment if self.loaded else ():
            yield f"  {key} is set by the environment"
        for key in self.loaded.yaml_credentials if self.loaded else ():
            if not any(key in said for said in (*self.errors, *self.warnings)):
                store = command("credentials set")
                yield f"  {key} stands readable in the file: `{store} {key}` keeps it encrypted"
        for warning in self.warnings:
            yield f"  warning: {warning}"

    def as_dict(self) -> dict[str, object]:
        return {
            "file": str(self.path) if self.path else None,
            "from_environment": list(self.loaded.from_environment) if self.loaded else [],
            "credentials_in_file": list(self.loaded.yaml_credentials) if self.loaded else [],
            "errors": list(self.errors),
            "warnings": list(self.warnings),
        }


def check_config(path: Path | None, environ: Mapping[str, str]) -> Checked:
    """Raises StartError inside the bot; what is wrong with the configuration is part of the answer."""
    from echo_bot.cli.plugins import installed_channels

    manifests = installed_channels()
    examined = examine_config(path, environ, manifests)
    if examined.loaded is None:
        _refuse_inside(path, environ)
        return Checked(examined.path, errors=tuple(map(str, examined.errors)))
    loaded = examined.loaded
    try:
        place = Place(loaded, manifests, database_path(database_url(loaded.config)))
    except EchoBotError as error:
        return Checked(examined.path, loaded, (str(error),), loaded.warnings)
    refuse_inside_bot(place.database)
    try:
        said = asyncio.run(_rehearse(place, manifests, environ))
    except EchoBotError as error:
        return Checked(examined.path, loaded, (str(error),), loaded.warnings)
    return Checked(examined.path, loaded, said.refusals, (*said.readable, *said.warnings, *said.servers))


def _refuse_inside(path: Path | None, environ: Mapping[str, str]) -> None:
    """As far as a wrong configuration tells where the bot's state is."""
    try:
        database = database_path(glance(path, environ).database_url)
    except EchoBotError:
        return
    refuse_inside_bot(database)


async def _rehearse(
    place: Place, manifests: tuple[ChannelManifest, ...], environ: Mapping[str, str]
) -> Rehearsal:
    from echo_bot.storage.store import SqlStore, sqlite_url

    discovered = Discovered({each.name: each for each in manifests}, {})
    if is_empty(place):
        return await rehearse(place.loaded, discovered, NothingStored(), environ)
    store = SqlStore(sqlite_url(place.database))
    try:
        return await rehearse(place.loaded, discovered, store.sealed, environ)
    finally:
        await store.close()
