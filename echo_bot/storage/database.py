"""The connections of one process: one writer, one reader, each transaction a plain function.

Each connection has a thread of its own, which runs one transaction after the other from its beginning to its
end: a caller that is cancelled leaves neither half a transaction nor a connection between two states, and
writers queue here, in order, rather than in the database.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from sqlalchemy import Connection, Delete, Engine, Insert, Select, Update
from sqlalchemy.engine import RowMapping
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from echo_bot.errors import StorageError

T = TypeVar("T")
Work = Callable[[Connection], T]
Values = Mapping[str, Any]


class Lane:
    """One connection, its thread and the transactions that wait for it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._connection: Connection | None = None
        self._is_closed = False

    async def run(self, work: Work[T]) -> T:
        """Run `work` in one transaction. Raises StorageError, and then nothing was changed."""
        if self._is_closed:
            raise StorageError("the store is closed")
        return await self._in_thread(lambda: self._transact(work))

    async def close(self) -> None:
        """Let the running transactions end, then disconnect. Idempotent."""
        if not self._is_closed:
            self._is_closed = True
            await self._in_thread(self._disconnect)
            self._thread.shutdown(wait=False)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, work))

    def _transact(self, work: Work[T]) -> T:
        try:
            if self._connection is None:
                self._connection = self._engine.connect()
            with self._connection.begin():
                return work(self._connection)
        except (SQLAlchemyError, OSError, ValueError) as error:
            self._drop_broken()
            raise StorageError(_sentence(error)) from error

    def _drop_broken(self) -> None:
        """After a connection-level fault the next transaction starts on a fresh connection."""
        if self._connection is not None and self._connection.invalidated:
            broken, self._connection = self._connection, None
            broken.close()

    def _disconnect(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.close()
        self._engine.dispose()


class Database:
    """Read and write transactions over two lanes."""

    def __init__(self, reader: Engine, writer: Engine) -> None:
        self._reader = Lane(reader)
        self._writer = Lane(writer)

    async def read(self, work: Work[T]) -> T:
        return await self._reader.run(work)

    async def write(self, work: Work[T]) -> T:
        return await self._writer.run(work)

    async def rows(
        self, statement: Select[Any], make: Callable[[RowMapping], T], values: Values | None = None
    ) -> tuple[T, ...]:
        """Every row of one query, made into a record. `values` fill a statement that was built once."""
        return await self.read(lambda c: tuple(make(row) for row in c.execute(statement, values).mappings()))

    async def first(self, statement: Select[Any], make: Callable[[RowMapping], T]) -> T | None:
        """The first row of one query as a record; None when there is none."""

        def work(connection: Connection) -> T | None:
            row = connection.execute(statement).mappings().first()
            return None if row is None else make(row)

        return await self.read(work)

    async def change(self, statement: Insert | Update | Delete, values: Values | None = None) -> int:
        """One statement; returns how many rows it touched."""
        return await self.write(lambda connection: connection.execute(statement, values).rowcount)

    async def close(self) -> None:
        try:
            await self._reader.close()
        finally:
            await self._writer.close()


def _sentence(error: Exception) -> str:
    """The database's own words without the statement, whose parameters may hold people's texts."""
    reason = str(error.orig) if isinstance(error, DBAPIError) else str(error)
    hint = ""
    if "locked" in reason:
        hint = ". Another program holds the database; stop it or try again"
    elif "readonly" in reason or "unable to open" in reason:
        hint = ". Check that the data folder is there and writable"
    elif "malformed" in reason or "not a database" in reason:
        hint = ". The file is damaged; stop the bot and restore it from a backup"
    elif "full" in reason:
        hint = ". Free some disk space"
    return f"the database refused: {reason}{hint}"
