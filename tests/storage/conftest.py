from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from echo_bot.storage.store import SqlStore, open_store, sqlite_url


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "state" / "echo-bot.db"


@pytest.fixture
async def store(database: Path) -> AsyncIterator[SqlStore]:
    store = await open_store(sqlite_url(database))
    yield store
    await store.close()
