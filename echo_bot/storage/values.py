"""Small pieces of state, by scope and key."""

from __future__ import annotations

from sqlalchemy import delete, select

from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.tables import values


class SqlValues:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, scope: str, key: str) -> str | None:
        statement = select(values.c.value).where(values.c.scope == scope).where(values.c.key == key)
        return await self._database.first(statement, lambda row: str(row["value"]))

    async def put(self, scope: str, key: str, value: str) -> None:
        statement = insert_into(values).values(scope=scope, key=key, value=value)
        upsert = statement.on_conflict_do_update(index_elements=["scope", "key"], set_={"value": value})
        await self._database.change(upsert)

    async def delete(self, scope: str, key: str) -> bool:
        statement = delete(values).where(values.c.scope == scope).where(values.c.key == key)
        return await self._database.change(statement) == 1

    async def list(self, scope: str) -> dict[str, str]:
        statement = select(values.c.key, values.c.value).where(values.c.scope == scope).order_by(values.c.key)
        return dict(await self._database.rows(statement, lambda row: (row["key"], row["value"])))
