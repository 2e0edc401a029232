"""What the verbs need of the bot's state: the configuration, and store and bus while a verb runs."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from echo_bot.audit import Audit
    from echo_bot.bus.protocol import Bus
    from echo_bot.channel import ChannelManifest
    from echo_bot.config.loader import Loaded
    from echo_bot.credentials import Key
    from echo_bot.policy.guards.secrets import SecretMask
    from echo_bot.storage.protocol import Store

T = TypeVar("T")

config_option = click.option(
    "-c", "--config", "config_path", type=click.Path(path_type=Path), help="Another configuration."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@dataclass(frozen=True, slots=True)
class Place:
    """One installation: its configuration and its database, which need not be there yet."""

    loaded: Loaded
    manifests: tuple[ChannelManifest, ...]
    database: Path


@dataclass(frozen=True, slots=True)
class State:
    """The opened state of one place. `empty_key_variables` should hold the key and hold nothing."""

    place: Place
    store: Store
    bus: Bus
    key: Key | None
    mask: SecretMask
    audit: Audit
    empty_key_variables: tuple[str, ...] = ()


def utc_now() -> datetime:
    return datetime.now(UTC)


def find_place(config_path: Path | None) -> Place:
    """Raises ConfigError or StorageError for a configuration that a start would refuse."""
    from echo_bot.cli.plugins import installed_channels
    from echo_bot.config.loader import load_config
    from echo_bot.config.places import database_url
    from echo_bot.storage.sqlite_file import database_path

    manifests = installed_channels()
    loaded = load_config(config_path, os.environ, manifests)
    return Place(loaded, manifests, database_path(database_url(loaded.config)))


def is_empty(place: Place) -> bool:
    """Has no bot ever stored anything here? Then a verb that only reads makes nothing either."""
    return not place.database.exists() or place.database.stat().st_size == 0


def run_with(place: Place, work: Callable[[State], Awaitable[T]]) -> T:
    """Open the state, do the work, close."""
    import asyncio

    async def main() -> T:
        async with opened(place) as state:
            return await work(state)

    return asyncio.run(main())


@asynccontextmanager
async def opened(place: Place) -> AsyncIterator[State]:
    """Raises StorageError when the store cannot be used, StartError for a malformed key."""
    from echo_bot.audit import Audit
    from echo_bot.bus.process import ProcessId
    from echo_bot.bus.sqlite import SqliteBus
    from echo_bot.config.credentials import secret_values
    from echo_bot.config.key_variable import empty_variables
    from echo_bot.credentials import take_key
    from echo_bot.policy.guards.secrets import SecretMask
    from echo_bot.storage.store import open_store, sqlite_url

    config = place.loaded.config
    variable = config.credentials.encryption_key_env
    empty = empty_variables(os.environ, variable)
    key = take_key(os.environ, variable)
    mask = SecretMask(secret_values(config).values())
    store = await open_store(sqlite_url(place.database))
    try:
        bus = SqliteBus(place.database, utc_now)
        await bus.open()
        try:
            writer = f"cli {ProcessId.current()}"
            audit = Audit(store.audit, writer, key.raw if key else None, utc_now, mask=mask.mask)
            yield State(place, store, bus, key, mask, audit, empty)
        finally:
            await bus.close()
    finally:
        await store.close()


def is_terminal() -> bool:
    """Does a person look at what is printed?"""
    return sys.stdout.isatty()


def age(since: datetime, now: datetime) -> str:
    """How long ago, in its largest unit."""
    seconds = max(0, int((now - since).total_seconds()))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
