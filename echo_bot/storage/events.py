"""Which platform updates were seen, claimed together with the turn they start."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, Update, delete, update

from echo_bot.events import EventId, SessionKey, TurnId
from echo_bot.storage.checkpoint_tables import retried_turns
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.prepared import Prepared
from echo_bot.storage.records import TranscriptRow, TurnRecord, TurnState
from echo_bot.storage.sessions import store_line
from echo_bot.storage.tables import seen, turns
from echo_bot.storage.turns import TURN_COLUMNS, turn_values

_CLAIM = Prepared(insert_into(seen).on_conflict_do_nothing(), "dedup_id", "at")
_BEGIN_TURN = Prepared(insert_into(turns).on_conflict_do_nothing(), *TURN_COLUMNS)
_RETRY = insert_into(retried_turns).on_conflict_do_nothing()


class _SeenBefore(Exception):
    """Rolls the claim, or the joining, back."""


class SqlEvents:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(
        self,
        dedup_ids: tuple[str, ...],
        turn: TurnRecord | None,
        at: datetime,
        said: TranscriptRow | None = None,
        instead_of: TurnId | None = None,
    ) -> bool:
        def work(connection: Connection) -> None:
            if not (_insert_ids(connection, dedup_ids, at) and _insert_turn(connection, turn)):
                raise _SeenBefore
            if turn is not None and instead_of is not None:
                connection.execute(_RETRY, {"turn_id": instead_of, "by_turn": turn.turn_id})
            if said is not None:
                store_line(connection, said)

        try:
            await self._database.write(work)
        except _SeenBefore:
            return False
        return True

    async def join(
        self,
        dedup_ids: tuple[str, ...],
        session_key: SessionKey,
        event_id: EventId,
        event_json: str,
        at: datetime,
        said: TranscriptRow,
    ) -> bool:
        def work(connection: Connection) -> None:
            if not _insert_ids(connection, dedup_ids, at):
                raise _SeenBefore
            if connection.execute(_replace_queued(session_key, event_id, event_json)).rowcount == 0:
                raise _SeenBefore
            store_line(connection, said)

        try:
            await self._database.write(work)
        except _SeenBefore:
            return False
        return True

    async def replace_queued(self, session_key: SessionKey, event_id: EventId, event_json: str) -> bool:
        return await self._database.change(_replace_queued(session_key, event_id, event_json)) > 0

    async def forget_before(self, at: datetime) -> int:
        statement = delete(seen).where(seen.c.at < at)
        return await self._database.change(statement)


def _replace_queued(session_key: SessionKey, event_id: EventId, event_json: str) -> Update:
    return (
        update(turns)
        .where(turns.c.session_key == session_key)
        .where(turns.c.event_id == event_id)
        .where(turns.c.state == TurnState.QUEUED.value)
        .values(event_json=event_json)
    )


def _insert_ids(connection: Connection, dedup_ids: tuple[str, ...], at: datetime) -> bool:
    """False when one of them was there before."""
    rows = [{"dedup_id": dedup_id, "at": at} for dedup_id in dict.fromkeys(dedup_ids)]
    return all(_CLAIM.count(connection, row) == 1 for row in rows)


def _insert_turn(connection: Connection, turn: TurnRecord | None) -> bool:
    """False when the turn is there already: its ids were forgotten, then the update came once more."""
    if turn is None:
        return True
    return _BEGIN_TURN.count(connection, turn_values(turn)) == 1
