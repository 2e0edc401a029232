"""Turns and their journals."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, bindparam, select, update
from sqlalchemy.engine import RowMapping

from echo_bot.events import SessionKey, TurnId
from echo_bot.storage.columns import fields
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.records import JournalEntry, TurnRecord, TurnState
from echo_bot.storage.tables import journal, turns

_UNFINISHED = tuple(state.value for state in TurnState if not state.is_final)
_SET_STATE = update(turns).where(turns.c.turn_id == bindparam("of")).where(turns.c.state.in_(_UNFINISHED))
_APPEND = insert_into(journal).on_conflict_do_nothing()
_JOURNAL = select(journal).where(journal.c.turn_id == bindparam("of")).order_by(journal.c.seq)


class SqlTurns:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, turn_id: TurnId) -> TurnRecord | None:
        statement = select(turns).where(turns.c.turn_id == turn_id)
        return await self._database.first(statement, _turn)

    async def unfinished(self) -> tuple[TurnRecord, ...]:
        statement = select(turns).where(turns.c.state.in_(_UNFINISHED)).order_by(turns.c.order)
        return await self._database.rows(statement, _turn)

    async def last_message(self, session_key: SessionKey) -> TurnRecord | None:
        statement = (
            select(turns)
            .where(turns.c.session_key == session_key)
            .where(turns.c.kind == "message")
            .order_by(turns.c.order.desc())
            .limit(1)
        )
        return await self._database.first(statement, _turn)

    async def unfinished_children(self, turn_id: TurnId) -> tuple[TurnRecord, ...]:
        statement = (
            select(turns)
            .where(turns.c.parent == turn_id)
            .where(turns.c.state.in_(_UNFINISHED))
            .order_by(turns.c.order)
        )
        return await self._database.rows(statement, _turn)

    async def begin(self, turn_id: TurnId) -> tuple[JournalEntry, ...] | None:
        def work(connection: Connection) -> tuple[JournalEntry, ...] | None:
            if connection.execute(_SET_STATE, _state_values(turn_id, TurnState.RUNNING)).rowcount == 0:
                return None
            return tuple(_entry(row) for row in connection.execute(_JOURNAL, {"of": turn_id}).mappings())

        return await self._database.write(work)

    async def set_state(self, turn_id: TurnId, state: TurnState, error: str = "", result: str = "") -> bool:
        return await self._database.change(_SET_STATE, _state_values(turn_id, state, error, result)) == 1

    async def append(self, turn_id: TurnId, entry: JournalEntry) -> bool:
        values = {"turn_id": turn_id, "kind": entry.kind, "key": entry.key, "payload": entry.payload}
        return await self._database.change(_APPEND, values) == 1

    async def journal(self, turn_id: TurnId) -> tuple[JournalEntry, ...]:
        return await self._database.rows(_JOURNAL, _entry, {"of": turn_id})


def turn_values(turn: TurnRecord) -> dict[str, Any]:
    """The columns of a new turn; the database gives the order."""
    return {
        "turn_id": turn.turn_id,
        "session_key": turn.session_key,
        "event_id": turn.event_id,
        "event_json": turn.event_json,
        "state": turn.state.value,
        "created_at": turn.created_at,
        "error": turn.error,
        "memory_scope": turn.memory_scope,
        "kind": turn.kind,
        "parent": turn.parent,
        "result": turn.result,
    }


def _state_values(turn_id: TurnId, state: TurnState, error: str = "", result: str = "") -> dict[str, str]:
    return {"of": turn_id, "state": state.value, "error": error, "result": result}


def _entry(row: RowMapping) -> JournalEntry:
    return JournalEntry(**fields(row, "kind", "key", "payload", "seq"))


def _turn(row: RowMapping) -> TurnRecord:
    names = (
        "turn_id",
        "session_key",
        "event_id",
        "event_json",
        "created_at",
        "order",
        "error",
        "memory_scope",
        "kind",
        "parent",
        "result",
    )
    return TurnRecord(state=TurnState(row["state"]), **fields(row, *names))
