"""Column types and groups that several tables share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Column, ColumnElement, Integer, Text, TypeDecorator, and_, or_
from sqlalchemy.engine import Dialect, RowMapping
from sqlalchemy.sql import FromClause

from echo_bot.events import Address

Row = RowMapping | Mapping[str, Any]
"""A row of a result by the names of its columns."""

RowId = BigInteger().with_variant(Integer, "sqlite")
"""SQLite counts rows up by itself only in a column of the very type INTEGER."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(at: datetime) -> int:
    """Microseconds since 1970, exact. Raises ValueError for a time without a zone."""
    if at.tzinfo is None:
        raise ValueError(f"{at!r} has no time zone")
    return (at - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


class UtcTime(TypeDecorator[datetime]):
    """A UTC time as whole microseconds since 1970: exact, sortable, the same on every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else to_micros(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else from_micros(value)


def text_column(name: str, *, default: str | None = None) -> Column[str]:
    """A text that is never NULL."""
    return Column(name, Text, nullable=False, server_default=default)


def address_columns() -> tuple[Column[str], ...]:
    return tuple(text_column(name) for name in ADDRESS)


ADDRESS = ("channel", "account", "chat_id", "thread_id")


def address_values(address: Address) -> dict[str, str]:
    return {name: getattr(address, name) for name in ADDRESS}


def address_of(row: Row) -> Address:
    return Address(**{name: row[name] for name in ADDRESS})


def is_at(table: FromClause, address: Address) -> ColumnElement[bool]:
    """The rows of a table that belong to this address."""
    return and_(*(table.c[name] == value for name, value in address_values(address).items()))


def equals_any(column: ColumnElement[str], values: Iterable[str]) -> ColumnElement[bool]:
    """What `in_` says, in words that `Prepared` can keep."""
    return or_(*(column == value for value in values))


def fields(row: Row, *names: str) -> dict[str, Any]:
    """Columns of a row under their own names, to build a record from."""
    return {name: row[name] for name in names}
