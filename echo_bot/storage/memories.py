"""What is remembered, by memory scope."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.engine import RowMapping

from echo_bot.storage.columns import fields
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.records import MemoryRecord
from echo_bot.storage.tables import memories

_NAMES = (
    "scope",
    "target",
    "content",
    "changed_at",
    "changed_by",
    "turn_id",
    "call_key",
    "created_at",
    "created_by",
)


class SqlMemories:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, record: MemoryRecord, most: int) -> MemoryRecord | None:
        def work(connection: Connection) -> MemoryRecord | None:
            known = _written_by(connection, record) or _same(connection, record)
            if known is not None:
                return known
            count = select(func.count()).select_from(memories).where(memories.c.scope == record.scope)
            if connection.execute(count).scalar_one() >= most:
                return None
            values = {name: getattr(record, name) for name in _NAMES}
            connection.execute(insert_into(memories).values(values))
            return _written_by(connection, record)

        return await self._database.write(work)

    async def replace(
        self, scope: str, memory_id: int, content: str, *, at: datetime, by: str, turn_id: str, call_key: str
    ) -> MemoryRecord | None:
        mine = (memories.c.scope == scope, memories.c.id == memory_id)
        changes = {
            "content": content,
            "changed_at": at,
            "changed_by": by,
            "turn_id": turn_id,
            "call_key": call_key,
        }

        def work(connection: Connection) -> MemoryRecord | None:
            connection.execute(update(memories).where(*mine).values(changes))
            row = connection.execute(select(memories).where(*mine)).mappings().first()
            return None if row is None else _record(row)

        return await self._database.write(work)

    async def remove(self, scope: str, memory_ids: tuple[int, ...]) -> int:
        statement = delete(memories).where(memories.c.scope == scope).where(memories.c.id.in_(memory_ids))
        return await self._database.change(statement)

    async def list(self, scope: str) -> tuple[MemoryRecord, ...]:
        statement = select(memories).where(memories.c.scope == scope).order_by(memories.c.id)
        return await self._database.rows(statement, _record)


def _written_by(connection: Connection, record: MemoryRecord) -> MemoryRecord | None:
    """What this very call wrote before, if it runs again."""
    statement = (
        select(memories)
        .where(memories.c.turn_id == record.turn_id)
        .where(memories.c.call_key == record.call_key)
        .where(memories.c.scope == record.scope)
    )
    row = connection.execute(statement).mappings().first()
    return None if row is None else _record(row)


def _same(connection: Connection, record: MemoryRecord) -> MemoryRecord | None:
    statement = (
        select(memories)
        .where(memories.c.scope == record.scope)
        .where(memories.c.target == record.target)
        .where(memories.c.content == record.content)
    )
    row = connection.execute(statement).mappings().first()
    return None if row is None else _record(row)


def _record(row: RowMapping) -> MemoryRecord:
    return MemoryRecord(**fields(row, "id", *_NAMES))
