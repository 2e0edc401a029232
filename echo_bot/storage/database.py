"""The connections of one process: one writer, one reader, each transaction a plain function.

Each connection has a thread of its own. What comes while a transaction runs is done next, all of it in one: a
commit costs more than a statement. Nobody is answered before that commit. If one of them fails, nothing was
changed, and each is done again alone: what a function does to anything but the database it must be able to do
twice. A caller that is cancelled leaves neither half a transaction nor a connection between two states, and
writers queue here, in order, rather than in the database.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Delete, Engine, Insert, Select, Update
from sqlalchemy.engine import RowMapping
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from echo_bot.errors import StorageError
from echo_bot.storage.dialect import DRIVER_ERROR

T = TypeVar("T")
Work = Callable[[Connection], T]

_MOST_TOGETHER = 64


@dataclass(frozen=True, slots=True)
class _Waiting:
    work: Work[Any]
    answer: asyncio.Future[Any]


class _OneFailed(Exception):
    """Rolls back what was to be committed together."""


class Lane:
    """One connection, its thread and the work that waits for it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._connection: Connection | None = None
        self._waiting: list[_Waiting] = []
        self._running: asyncio.Future[list[Any]] | None = None
        self._is_closed = False

    async def run(self, work: Work[T]) -> T:
        """Run `work` in a transaction. Raises StorageError, and then it changed nothing."""
        if self._is_closed:
            raise StorageError("the store is closed")
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(work, answer))
        if self._running is None:
            self._run_next()
        return await answer

    async def close(self) -> None:
        """Let the work that was begun or waits end, then disconnect. Idempotent."""
        if self._is_closed:
            return
        self._is_closed = True
        while self._running is not None:
            await asyncio.wait({self._running})
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, self._disconnect))
        self._thread.shutdown(wait=False)

    def _run_next(self) -> None:
        next_ones, self._waiting = self._waiting[:_MOST_TOGETHER], self._waiting[_MOST_TOGETHER:]
        works = [each.work for each in next_ones]
        self._running = asyncio.get_running_loop().run_in_executor(self._thread, self._outcomes, works)
        self._running.add_done_callback(lambda ran: self._answer(next_ones, ran))

    def _answer(self, asked: list[_Waiting], ran: asyncio.Future[list[Any]]) -> None:
        self._running = None
        if self._waiting:
            self._run_next()
        for each, outcome in zip(asked, ran.result(), strict=True):
            if each.answer.done():
                continue
            if isinstance(outcome, Exception):
                each.answer.set_exception(outcome)
            else:
                each.answer.set_result(outcome)

    # In the thread

    def _outcomes(self, works: Sequence[Work[Any]]) -> list[Any]:
        """What each returned or raised, once that is committed."""
        try:
            return self._transact(works)
        except _OneFailed:
            return [outcome for work in works for outcome in self._outcomes([work])]
        except Exception as error:  # noqa: BLE001 - a thread's outer edge: whoever asked for the work hears of it
            return [error] * len(works)

    def _transact(self, works: Sequence[Work[Any]]) -> list[Any]:
        try:
            if self._connection is None:
                self._connection = self._engine.connect()
            with self._connection.begin():
                return _results(self._connection, works)
        except (SQLAlchemyError, DRIVER_ERROR, OSError, ValueError) as error:
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


def _results(connection: Connection, works: Sequence[Work[Any]]) -> list[Any]:
    if len(works) == 1:
        return [works[0](connection)]
    try:
        return [work(connection) for work in works]
    except Exception as error:  # whatever it was, each is done again alone and raises it to its own caller
        raise _OneFailed from error


class Database:
    """Read and write transactions over two lanes."""

    def __init__(self, reader: Engine, writer: Engine) -> None:
        self._reader = Lane(reader)
        self._writer = Lane(writer)

    async def read(self, work: Work[T]) -> T:
        return await self._reader.run(work)

    async def write(self, work: Work[T]) -> T:
        return await self._writer.run(work)

    async def rows(self, statement: Select[Any], make: Callable[[RowMapping], T]) -> tuple[T, ...]:
        """Every row of one query, made into a record."""
        return await self.read(lambda connection: tuple(map(make, connection.execute(statement).mappings())))

    async def first(self, statement: Select[Any], make: Callable[[RowMapping], T]) -> T | None:
        """The first row of one query as a record; None when there is none."""

        def work(connection: Connection) -> T | None:
            row = connection.execute(statement).mappings().first()
            return None if row is None else make(row)

        return await self.read(work)

    async def change(self, statement: Insert | Update | Delete) -> int:
        """One statement; returns how many rows it touched."""
        return await self.write(lambda connection: connection.execute(statement).rowcount)

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
