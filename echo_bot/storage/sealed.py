"""Encrypted credentials, as opaque bytes."""

from __future__ import annotations

from sqlalchemy import delete, select
from sqlalchemy.engine import RowMapping

from echo_bot.storage.columns import fields
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.records import SealedValue
from echo_bot.storage.tables import sealed

_CONTENTS = ("key_id", "nonce", "ciphertext", "updated_at")


class SqlSealedValues:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, value: SealedValue) -> None:
        contents = {name: getattr(value, name) for name in _CONTENTS}
        statement = insert_into(sealed).values(owner=value.owner, field=value.field, **contents)
        upsert = statement.on_conflict_do_update(index_elements=["owner", "field"], set_=contents)
        await self._database.change(upsert)

    async def get(self, owner: str, field: str) -> SealedValue | None:
        statement = select(sealed).where(sealed.c.owner == owner).where(sealed.c.field == field)
        return await self._database.first(statement, _value)

    async def list(self) -> tuple[SealedValue, ...]:
        statement = select(sealed).order_by(sealed.c.owner, sealed.c.field)
        return await self._database.rows(statement, _value)

    async def delete(self, owner: str, field: str) -> bool:
        statement = delete(sealed).where(sealed.c.owner == owner).where(sealed.c.field == field)
        return await self._database.change(statement) == 1


def _value(row: RowMapping) -> SealedValue:
    return SealedValue(**fields(row, "owner", "field", *_CONTENTS))
