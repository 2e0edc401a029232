"""What is to be delivered: each part once, each chat in order."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, exists, or_, select, update

from echo_bot.events import Address, TurnId
from echo_bot.storage.columns import ADDRESS, Row, address_of, address_values, equals_any, fields, is_at
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.prepared import Prepared
from echo_bot.storage.records import OutboxRow, OutboxState, TranscriptRow, TurnEnd
from echo_bot.storage.sessions import store_line
from echo_bot.storage.tables import outbox
from echo_bot.storage.turns import set_state

_NAMES = (
    "source",
    "part",
    "body_json",
    "created_at",
    "state",
    "tries",
    "next_try_at",
    "message_id",
    "error",
)
_UNSENT = ("queued", "sending")
_PUT = Prepared(
    insert_into(outbox).on_conflict_do_nothing(index_elements=["source", "part"]).returning(outbox.c.row_id),
    *_NAMES,
    *ADDRESS,
)
_UNSENT_AT = Prepared(
    select(outbox)
    .where(equals_any(outbox.c.state, _UNSENT))
    .where(*(outbox.c[name] == bindparam(name) for name in ADDRESS))
    .order_by(outbox.c.row_id)
    .limit(1)
)
"""The oldest at an address."""
_IS_IT = outbox.c.row_id == bindparam("of")
_TAKE = Prepared(update(outbox).where(_IS_IT), "state")
_SENT = Prepared(
    update(outbox).where(_IS_IT).returning(outbox.c.source, *(outbox.c[name] for name in ADDRESS)),
    *("state", "error", "next_try_at", "message_id"),
)


class SqlOutbox:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, rows: tuple[OutboxRow, ...], ends: TurnEnd | None = None) -> tuple[OutboxRow, ...]:
        def work(connection: Connection) -> tuple[OutboxRow, ...]:
            if ends is not None:
                set_state(connection, ends)
            return tuple(_put(connection, row)[0] for row in rows)

        return await self._database.write(work) if rows or ends else ()

    async def put_to_send(
        self, rows: tuple[OutboxRow, ...], ends: TurnEnd | None = None
    ) -> tuple[tuple[OutboxRow, ...], bool]:
        def work(connection: Connection) -> tuple[tuple[OutboxRow, ...], bool]:
            if ends is not None:
                set_state(connection, ends)
            is_next = _UNSENT_AT.first(connection, address_values(rows[0].address)) is None
            first = replace(rows[0], state="sending") if is_next else rows[0]
            stored, is_new = _put(connection, first)
            return (stored, *(_put(connection, row)[0] for row in rows[1:])), is_next and is_new

        return await self._database.write(work)

    async def due(self, now: datetime, limit: int) -> tuple[OutboxRow, ...]:
        earlier = outbox.alias("earlier")
        waits_behind = exists().where(
            and_(
                earlier.c.state.in_(_UNSENT),
                *(earlier.c[name] == outbox.c[name] for name in ADDRESS),
                earlier.c.row_id < outbox.c.row_id,
            )
        )
        statement = (
            select(outbox)
            .where(outbox.c.state == "queued")
            .where(or_(outbox.c.next_try_at.is_(None), outbox.c.next_try_at <= now))
            .where(~waits_behind)
            .order_by(outbox.c.row_id)
            .limit(limit)
        )
        return await self._database.rows(statement, _row)

    async def has_unsent(self, address: Address) -> bool:
        is_there = select(outbox.c.row_id).where(is_at(outbox, address)).where(outbox.c.state.in_(_UNSENT))
        rows = await self._database.rows(is_there.limit(1), lambda row: row["row_id"])
        return bool(rows)

    async def mark(
        self,
        row_id: int,
        state: OutboxState,
        *,
        message_id: str = "",
        error: str = "",
        next_try_at: datetime | None = None,
        count_try: bool = False,
    ) -> None:
        changes: dict[str, Any] = {"state": state, "error": error, "next_try_at": next_try_at}
        if message_id:
            changes["message_id"] = message_id
        if count_try:
            changes["tries"] = outbox.c.tries + 1
        statement = update(outbox).where(outbox.c.row_id == row_id).values(changes)
        await self._database.change(statement)

    async def sent(
        self, row_id: int, message_id: str, shown: TranscriptRow, *, take_next: bool = False
    ) -> OutboxRow | None:
        changes = {"state": "sent", "error": "", "next_try_at": None, "message_id": message_id}

        def work(connection: Connection) -> OutboxRow | None:
            row = _SENT.first(connection, {"of": row_id, **changes})
            # The source of a turn's message begins with the turn's id.
            store_line(connection, shown, of_turn=row["source"].partition(":")[0] if row else None)
            return _take_next(connection, address_of(row), shown.at) if take_next and row else None

        return await self._database.write(work)

    async def revive(self, row_id: int, now: datetime) -> bool:
        changes = {"state": "queued", "tries": 0, "next_try_at": now, "error": ""}
        statement = update(outbox).where(_is_dead(row_id)).values(changes)
        return await self._database.change(statement) == 1

    async def drop(self, row_id: int) -> bool:
        return await self._database.change(delete(outbox).where(_is_dead(row_id))) == 1

    async def recover(self) -> tuple[OutboxRow, ...]:
        statement = (
            update(outbox).where(outbox.c.state == "sending").values(state="unknown").returning(outbox)
        )

        def work(connection: Connection) -> tuple[OutboxRow, ...]:
            rows = [_row(row) for row in connection.execute(statement).mappings()]
            return tuple(sorted(rows, key=lambda row: row.row_id))

        return await self._database.write(work)

    async def list(self, state: OutboxState, limit: int) -> tuple[OutboxRow, ...]:
        statement = select(outbox).where(outbox.c.state == state).order_by(outbox.c.row_id).limit(limit)
        return await self._database.rows(statement, _row)

    async def of_turn(self, turn_id: TurnId) -> tuple[OutboxRow, ...]:
        # A range and not LIKE, so that the index on the source is used.
        statement = (
            select(outbox)
            .where(outbox.c.source >= f"{turn_id}:")
            .where(outbox.c.source < f"{turn_id};")
            .order_by(outbox.c.row_id)
        )
        return await self._database.rows(statement, _row)


def _is_dead(row_id: int) -> ColumnElement[bool]:
    return and_(outbox.c.row_id == row_id, outbox.c.state == "dead")


def _take_next(connection: Connection, address: Address, now: datetime) -> OutboxRow | None:
    """The oldest unsent row there, marked `sending`, if it is due."""
    found = _UNSENT_AT.first(connection, address_values(address))
    row = _row(found) if found is not None else None
    if row is None or row.state != "queued" or (row.next_try_at is not None and row.next_try_at > now):
        return None
    _TAKE.count(connection, {"of": row.row_id, "state": "sending"})
    return replace(row, state="sending")


def _put(connection: Connection, row: OutboxRow) -> tuple[OutboxRow, bool]:
    """The row as it is stored, and whether it is new."""
    values = {name: getattr(row, name) for name in _NAMES} | address_values(row.address)
    if (new := _PUT.first(connection, values)) is not None:
        return replace(row, row_id=new["row_id"]), True
    stored = select(outbox).where(outbox.c.source == row.source).where(outbox.c.part == row.part)
    return _row(connection.execute(stored).mappings().one()), False


def _row(row: Row) -> OutboxRow:
    return OutboxRow(address=address_of(row), **fields(row, "row_id", *_NAMES))
