"""What the doctor has before it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from echo_bot.app.discovery import Discovered
from echo_bot.app.rehearsal import NothingStored
from echo_bot.cli.sight import Sight
from echo_bot.cli.state import Place, is_empty
from echo_bot.config.model import Config
from echo_bot.storage.protocol import SealedValues
from echo_bot.storage.store import SqlStore, sqlite_url


@dataclass(frozen=True, slots=True)
class Scene:
    """One installation whose configuration can be used, seen from outside."""

    place: Place
    discovered: Discovered
    sight: Sight
    environ: Mapping[str, str]
    now: datetime

    @property
    def config(self) -> Config:
        return self.place.loaded.config

    @asynccontextmanager
    async def store(self) -> AsyncIterator[tuple[SqlStore, SealedValues]]:
        """The store, not opened: nothing is made or migrated. With it the stored credentials, if any."""
        store = SqlStore(sqlite_url(self.place.database))
        try:
            yield store, NothingStored() if is_empty(self.place) else store.sealed
        finally:
            await store.close()
