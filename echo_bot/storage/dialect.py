"""What differs between the databases: the SQL, how to connect, begin and insert what may be there."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy import Connection, Engine, Table, create_engine, event
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.sqlite import Insert, insert
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

DIALECT = sqlite.dialect()
DRIVER_ERROR = sqlite3.Error
"""What a statement raises that does not go through SQLAlchemy."""

_PRAGMAS = (
    "PRAGMA busy_timeout = 5000",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
)


def insert_into(table: Table) -> Insert:
    """An INSERT that knows ON CONFLICT; the clause is spelt alike on SQLite and PostgreSQL."""
    return insert(table)


def sqlite_engine(path: Path, *, writes: bool) -> Engine:
    """An engine over one file. A writer takes the write lock as it begins, so it never fails half-way."""
    url = URL.create("sqlite", database=str(path))
    engine = create_engine(url, connect_args={"isolation_level": None})
    begin = "BEGIN IMMEDIATE" if writes else "BEGIN"

    def prepare(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        for pragma in _PRAGMAS:
            cursor.execute(pragma)
        cursor.close()

    def start(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", start)
    return engine
