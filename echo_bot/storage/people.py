"""Who was paired, the one-time codes that do it, and the tries that missed."""

from __future__ import annotations

import json
from datetime import datetime
from typing import get_args

from sqlalchemy import Connection, delete, func, insert, select
from sqlalchemy.engine import RowMapping

from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.records import PairedSender, PairingCode, PairingRole
from echo_bot.storage.tables import paired_senders, pairing_codes, pairing_misses


class SqlPeople:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_code(self, code: PairingCode) -> None:
        statement = insert(pairing_codes).values(
            code_hash=code.code_hash, roles_json=json.dumps(code.roles), expires_at=code.expires_at
        )
        await self._database.change(statement)

    async def open_codes(self, now: datetime) -> int:
        statement = select(func.count()).select_from(pairing_codes).where(pairing_codes.c.expires_at > now)
        return await self._database.read(lambda connection: int(connection.execute(statement).scalar_one()))

    async def redeem(self, code_hash: str, identity: str, now: datetime) -> PairedSender | None:
        spend = (
            delete(pairing_codes)
            .where(pairing_codes.c.code_hash == code_hash)
            .where(pairing_codes.c.expires_at > now)
            .returning(pairing_codes.c.roles_json)
        )

        def work(connection: Connection) -> PairedSender | None:
            roles_json = connection.execute(spend).scalar_one_or_none()
            if roles_json is None:
                connection.execute(insert(pairing_misses).values(identity=identity, at=now))
                return None
            return _pair(connection, identity, _roles(roles_json), now)

        return await self._database.write(work)

    async def misses(self, identity: str, since: datetime) -> int:
        statement = (
            select(func.count())
            .select_from(pairing_misses)
            .where(pairing_misses.c.identity == identity)
            .where(pairing_misses.c.at >= since)
        )
        return await self._database.read(lambda connection: int(connection.execute(statement).scalar_one()))

    async def paired(self) -> tuple[PairedSender, ...]:
        statement = select(paired_senders).order_by(paired_senders.c.paired_at, paired_senders.c.identity)
        return await self._database.rows(statement, _sender)

    async def unpair(self, identity: str) -> bool:
        statement = delete(paired_senders).where(paired_senders.c.identity == identity)
        return await self._database.change(statement) == 1


def _pair(
    connection: Connection, identity: str, roles: tuple[PairingRole, ...], now: datetime
) -> PairedSender:
    """A second code adds to what the first one gave."""
    known = select(paired_senders.c.roles_json).where(paired_senders.c.identity == identity)
    before = _roles(connection.execute(known).scalar_one_or_none() or "[]")
    merged = tuple(role for role in get_args(PairingRole) if role in (*before, *roles))
    values = {"roles_json": json.dumps(merged), "paired_at": now}
    statement = insert_into(paired_senders).values(identity=identity, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=["identity"], set_=values))
    return PairedSender(identity=identity, roles=merged, paired_at=now)


def _roles(roles_json: str) -> tuple[PairingRole, ...]:
    return tuple(json.loads(roles_json))


def _sender(row: RowMapping) -> PairedSender:
    return PairedSender(identity=row["identity"], roles=_roles(row["roles_json"]), paired_at=row["paired_at"])
