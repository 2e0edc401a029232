"""What differs between the databases: how to connect, begin a transaction and insert unless it is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, event
from sqlalchemy.dialects.sqlite import Insert, insert
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

_PRAGMAS = (
    "PRAGMA busy_timeout = 5000",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
)


def insert_into(table: Table) -> Insert:
    """An INSERT that knows ON CONFLICT; the clause is spelt alike on SQLite and PostgreSQL."""
    return insert(table)


def sqlite_engine(path: Path, *, writes: bool) -> AsyncEngine:
    """An engine over one file. A writer takes the write lock as it begins, so it never fails half-way."""
    url = URL.create("sqlite+aiosqlite", database=str(path))
    engine = create_async_engine(url, connect_args={"isolation_level": None})
    begin = "BEGIN IMMEDIATE" if writes else "BEGIN"

    def prepare(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        for pragma in _PRAGMAS:
            cursor.execute(pragma)
        cursor.close()

    def start(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    _listen(engine, "connect", prepare)
    _listen(engine, "begin", start)
    return engine


def _listen(engine: AsyncEngine, name: str, listener: Any) -> None:
    event.listen(engine.sync_engine, name, listener)
