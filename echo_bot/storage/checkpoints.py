"""Checkpoints over SQLAlchemy Core."""

from __future__ import annotations

import json
from dataclasses import replace

from sqlalchemy import Connection, delete, func, select
from sqlalchemy.engine import RowMapping

from echo_bot.events import SessionKey, TurnId
from echo_bot.storage.checkpoint_record import Checkpoint
from echo_bot.storage.checkpoint_tables import checkpoints
from echo_bot.storage.columns import fields
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.tables import turns

_COLUMNS = ("session_key", "turn_id", "path", "before", "after", "at", "size", "mode")


class SqlCheckpoints:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, added: tuple[Checkpoint, ...]) -> tuple[int, ...]:
        return await self._database.write(lambda c: tuple(_insert(c, each) for each in added))

    async def last(self, session_key: SessionKey) -> tuple[Checkpoint, ...]:
        newest = select(func.max(checkpoints.c.id)).where(checkpoints.c.session_key == session_key)
        turn = select(checkpoints.c.turn_id).where(checkpoints.c.id == newest.scalar_subquery())
        statement = (
            select(checkpoints)
            .where(checkpoints.c.turn_id == turn.scalar_subquery())
            .order_by(checkpoints.c.id)
        )
        return await self._database.rows(statement, _checkpoint)

    async def drop(self, ids: tuple[int, ...]) -> int:
        return await self._database.change(delete(checkpoints).where(checkpoints.c.id.in_(ids)))

    async def newest_first(self) -> tuple[Checkpoint, ...]:
        return await self._database.rows(select(checkpoints).order_by(checkpoints.c.id.desc()), _checkpoint)


def _insert(connection: Connection, checkpoint: Checkpoint) -> int:
    checkpoint = _of_the_conversation(connection, checkpoint)
    values = {name: getattr(checkpoint, name) for name in _COLUMNS}
    values["made_folders"] = json.dumps(checkpoint.made_folders)
    key = connection.execute(insert_into(checkpoints).values(values)).inserted_primary_key
    return int(key[0]) if key else 0


def _of_the_conversation(connection: Connection, checkpoint: Checkpoint) -> Checkpoint:
    """Under the turn that the writing one goes back to, whose session has its present key."""
    turn_id: str = checkpoint.turn_id
    while True:
        statement = select(turns.c.session_key, turns.c.parent).where(turns.c.turn_id == turn_id)
        row = connection.execute(statement).first()
        if row is None:
            return checkpoint
        checkpoint = replace(checkpoint, turn_id=TurnId(turn_id), session_key=SessionKey(row.session_key))
        if not row.parent:
            return checkpoint
        turn_id = row.parent


def _checkpoint(row: RowMapping) -> Checkpoint:
    made = tuple(json.loads(row["made_folders"]))
    return Checkpoint(made_folders=made, **fields(row, "id", *_COLUMNS))
