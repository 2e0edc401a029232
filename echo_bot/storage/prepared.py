"""Statements that every message runs, compiled once: SQLAlchemy takes longer over one than the database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Insert, Select, Update
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

from echo_bot.storage.columns import Row
from echo_bot.storage.dialect import DIALECT

Values = Mapping[str, Any]
_Convert = Callable[[Any], Any] | None


class Prepared:
    """`sets` names the columns that an insert or update is given values for, beside those it has already.

    Values for them and for the statement's own parameters come with each run. No `in_`: its text grows with
    its values.
    """

    def __init__(self, statement: Select[Any] | Insert | Update, *sets: str) -> None:
        self._statement, self._sets = statement, list(sets) or None

    def count(self, connection: Connection, values: Values) -> int:
        """Run it; returns how many rows it touched."""
        return self._run(connection, values).rowcount

    def rows(self, connection: Connection, values: Values) -> list[Row]:
        return [self._row(row) for row in self._run(connection, values).fetchall()]

    def first(self, connection: Connection, values: Values) -> Row | None:
        # Fetched to the end: before that, one that gives back what it changed is not done.
        rows = self._run(connection, values).fetchall()
        return self._row(rows[0]) if rows else None

    def _run(self, connection: Connection, values: Values) -> DBAPICursor:
        text, places = self._compiled
        cursor = connection.connection.cursor()
        cursor.execute(text, [_converted(values[name], how) if name else how for name, how in places])
        return cursor

    def _row(self, row: Sequence[Any]) -> Row:
        return {name: _converted(value, how) for (name, how), value in zip(self._columns, row, strict=True)}

    @cached_property
    def _compiled(self) -> tuple[str, list[tuple[str, Any]]]:
        """The text, and for each of its places the name and conversion of a value; or "" and the value."""
        compiled = self._statement.compile(dialect=DIALECT, column_keys=self._sets)
        assert isinstance(compiled, SQLCompiler)
        binds = [(name, compiled.binds[name]) for name in compiled.positiontup or ()]
        places = [(name, _into(bind.type)) if bind.required else ("", bind.value) for name, bind in binds]
        return str(compiled), places

    @cached_property
    def _columns(self) -> list[tuple[str, _Convert]]:
        return [(column.name, _out_of(column.type)) for column in self._statement.exported_columns]


def _converted(value: Any, how: _Convert) -> Any:
    return value if how is None else how(value)


def _into(kind: TypeEngine[Any]) -> _Convert:
    return kind.dialect_impl(DIALECT).bind_processor(DIALECT)


def _out_of(kind: TypeEngine[Any]) -> _Convert:
    return kind.dialect_impl(DIALECT).result_processor(DIALECT, None)
