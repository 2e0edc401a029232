"""The append-only audit rows, with the head of every chain beside them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.engine import RowMapping

from echo_bot.storage.columns import fields
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.records import AuditHead, AuditRow
from echo_bot.storage.tables import audit, audit_heads

_NAMES = ("writer", "seq", "at", "kind", "body_json", "prev", "mac")


class SqlAuditRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def last(self, writer: str) -> AuditRow | None:
        statement = select(audit).where(audit.c.writer == writer).order_by(audit.c.seq.desc()).limit(1)
        return await self._database.first(statement, _audit_row)

    async def append(self, row: AuditRow) -> None:
        statement = insert(audit).values({name: getattr(row, name) for name in _NAMES})
        head = {"seq": row.seq, "mac": row.mac, "at": row.at}
        move = insert_into(audit_heads).values(writer=row.writer, **head)

        def work(connection: Connection) -> None:
            connection.execute(statement)
            connection.execute(move.on_conflict_do_update(index_elements=["writer"], set_=head))

        await self._database.write(work)

    async def tail(self, limit: int) -> tuple[AuditRow, ...]:
        statement = select(audit).order_by(audit.c.id.desc()).limit(limit)
        return (await self._database.rows(statement, _audit_row))[::-1]

    async def chain(self, writer: str) -> tuple[AuditRow, ...]:
        statement = select(audit).where(audit.c.writer == writer).order_by(audit.c.id)
        return await self._database.rows(statement, _audit_row)

    async def writers(self) -> tuple[str, ...]:
        statement = select(audit.c.writer).group_by(audit.c.writer).order_by(func.min(audit.c.id))
        return await self._database.read(lambda connection: tuple(connection.execute(statement).scalars()))

    async def of_kind(self, kind: str) -> tuple[AuditRow, ...]:
        statement = select(audit).where(audit.c.kind == kind).order_by(audit.c.id)
        return await self._database.rows(statement, _audit_row)

    async def heads(self) -> tuple[AuditHead, ...]:
        statement = select(audit_heads).order_by(audit_heads.c.at, audit_heads.c.writer)
        return await self._database.rows(
            statement, lambda row: AuditHead(**fields(row, "writer", "seq", "mac", "at"))
        )

    async def prune(self, before: datetime, anchor_kind: str) -> int:
        def work(connection: Connection) -> int:
            dropped = 0
            for writer in connection.execute(select(audit.c.writer).distinct()).scalars().all():
                cut = _last_old(connection, writer, before)
                dropped += 0 if cut is None else _cut(connection, writer, cut, anchor_kind)
            return dropped

        return await self._database.write(work)


def _last_old(connection: Connection, writer: str, before: datetime) -> int | None:
    """The last row of the chain's beginning in which everything is older; rows after a younger one stay."""
    young = (
        select(func.min(audit.c.seq)).where(audit.c.writer == writer).where(audit.c.at >= before)
    ).scalar_subquery()
    last = select(func.max(audit.c.seq)).where(audit.c.writer == writer)
    first_young = connection.execute(select(young)).scalar_one()
    if first_young is not None:
        last = last.where(audit.c.seq < first_young)
    found: int | None = connection.execute(last).scalar_one()
    return found


def _cut(connection: Connection, writer: str, cut: int, anchor_kind: str) -> int:
    """Drop the rows before `cut` and empty that one: its mac is what the rest of the chain hangs on."""
    before_cut = connection.execute(
        delete(audit).where(audit.c.writer == writer).where(audit.c.seq < cut).returning(audit.c.kind)
    ).scalars()
    dropped = sum(1 for kind in before_cut if kind != anchor_kind)
    emptied = connection.execute(
        update(audit)
        .where(audit.c.writer == writer)
        .where(audit.c.seq == cut)
        .where(audit.c.kind != anchor_kind)
        .values(kind=anchor_kind, body_json="{}")
    )
    return dropped + emptied.rowcount


def _audit_row(row: RowMapping) -> AuditRow:
    return AuditRow(**fields(row, *_NAMES))
