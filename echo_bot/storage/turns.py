"""Turns and their journals."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from echo_bot.events import SessionKey, TurnId
from echo_bot.storage.columns import Row, equals_any, fields
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.prepared import Prepared
from echo_bot.storage.records import JournalEntry, TurnEnd, TurnRecord, TurnState
from echo_bot.storage.tables import journal, turns

_UNFINISHED = tuple(state.value for state in TurnState if not state.is_final)
TURN_COLUMNS = (
    "turn_id",
    "session_key",
    "event_id",
    "event_json",
    "state",
    "created_at",
    "error",
    "memory_scope",
    "kind",
    "parent",
    "result",
)
"""All but the order, which the database gives."""
_SET_STATE = Prepared(
    update(turns).where(turns.c.turn_id == bindparam("of")).where(equals_any(turns.c.state, _UNFINISHED)),
    *("state", "error", "result"),
)
_APPEND = Prepared(insert_into(journal).on_conflict_do_nothing(), "turn_id", "kind", "key", "payload")
_JOURNAL = Prepared(select(journal).where(journal.c.turn_id == bindparam("of")).order_by(journal.c.seq))


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
            if not set_state(connection, TurnEnd(turn_id, TurnState.RUNNING)):
                return None
            return _read_journal(connection, turn_id)

        return await self._database.write(work)

    async def set_state(self, turn_id: TurnId, state: TurnState, error: str = "", result: str = "") -> bool:
        end = TurnEnd(turn_id, state, error, result)
        return await self._database.write(lambda connection: set_state(connection, end))

    async def append(self, turn_id: TurnId, entry: JournalEntry) -> bool:
        values = {"turn_id": turn_id, "kind": entry.kind, "key": entry.key, "payload": entry.payload}
        return await self._database.write(lambda connection: _APPEND.count(connection, values)) == 1

    async def journal(self, turn_id: TurnId) -> tuple[JournalEntry, ...]:
        return await self._database.read(lambda connection: _read_journal(connection, turn_id))


def turn_values(turn: TurnRecord) -> dict[str, Any]:
    return {name: getattr(turn, name) for name in TURN_COLUMNS} | {"state": turn.state.value}


def set_state(connection: Connection, to: TurnEnd) -> bool:
    """False for a turn that is over: it stays as it ended."""
    values = {"of": to.turn_id, "state": to.state.value, "error": to.error, "result": to.result}
    return _SET_STATE.count(connection, values) == 1


def _read_journal(connection: Connection, turn_id: TurnId) -> tuple[JournalEntry, ...]:
    return tuple(map(_entry, _JOURNAL.rows(connection, {"of": turn_id})))


def _entry(row: Row) -> JournalEntry:
    return JournalEntry(**fields(row, "kind", "key", "payload", "seq"))


def _turn(row: Row) -> TurnRecord:
    columns = fields(row, "order", *TURN_COLUMNS)
    return TurnRecord(**columns | {"state": TurnState(row["state"])})
