"""What the model remembers of a session, and what people saw in a chat."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, func, select
from sqlalchemy.dialects.sqlite import Insert

from echo_bot.events import Address, Identity, SessionKey
from echo_bot.storage.checkpoint_tables import retried_turns
from echo_bot.storage.columns import ADDRESS, Row, address_of, address_values, fields, is_at
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.fulltext import search
from echo_bot.storage.prepared import Prepared
from echo_bot.storage.records import HistoryEntry, TranscriptRow
from echo_bot.storage.tables import history, session_resets, transcript, turns
from echo_bot.storage.usage_tables import summaries
from echo_bot.text.terms import Terms

_CONTENTS = ("role", "text", "at", "sender", "card_json")
"""The columns that a newer row of the same entry replaces."""


def _upsert(line: Insert, *replaced: str) -> Insert:
    new = {name: line.excluded[name] for name in replaced}
    return line.on_conflict_do_update(index_elements=[*ADDRESS, "entry_id"], set_=new)


_SCOPE_OF_TURN = select(turns.c.memory_scope).where(turns.c.turn_id == bindparam("of_turn")).scalar_subquery()
_LINE_COLUMNS = ("entry_id", *_CONTENTS, *ADDRESS)
_PUT_LINE = Prepared(_upsert(insert_into(transcript), *_CONTENTS, "scope"), *_LINE_COLUMNS, "scope")
_PUT_LINE_AS_BEFORE = Prepared(_upsert(insert_into(transcript), *_CONTENTS), *_LINE_COLUMNS)
_PUT_LINE_OF_TURN = Prepared(
    _upsert(insert_into(transcript).values(scope=func.coalesce(_SCOPE_OF_TURN, "")), *_CONTENTS, "scope"),
    *_LINE_COLUMNS,
)
# The turn's row knows the session's key if the chat got a new id while the turn ran.
_KEY_OF_TURN = select(turns.c.session_key).where(turns.c.turn_id == bindparam("of_turn")).scalar_subquery()
_ADD_HISTORY = Prepared(
    insert_into(history)
    .values(session_key=func.coalesce(_KEY_OF_TURN, bindparam("else_key")))
    .on_conflict_do_nothing(),
    *("turn_id", "messages_json", "at"),
)
_LAST_RESET = (
    select(func.coalesce(func.max(session_resets.c.after_id), 0))
    .where(session_resets.c.session_key == bindparam("of_session"))
    .scalar_subquery()
)
_HISTORY = Prepared(
    select(history)
    .where(history.c.session_key == bindparam("of_session"))
    .where(history.c.id > _LAST_RESET)
    .where(history.c.turn_id.not_in(select(retried_turns.c.turn_id)))
    .where(history.c.at > bindparam("since"))
    .order_by(history.c.id.desc())
    .limit(bindparam("most"))
)


class SqlSessions:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_history(self, session_key: SessionKey, entry: HistoryEntry) -> None:
        values = {
            "turn_id": entry.turn_id,
            "messages_json": entry.messages_json,
            "at": entry.at,
            "of_turn": entry.turn_id,
            "else_key": session_key,
        }
        await self._database.write(lambda connection: _ADD_HISTORY.count(connection, values))

    async def history(self, session_key: SessionKey, limit: int, since: datetime) -> tuple[HistoryEntry, ...]:
        values = {"of_session": session_key, "since": since, "most": limit}
        newest_first = await self._database.read(lambda connection: _HISTORY.rows(connection, values))
        return tuple(
            HistoryEntry(**fields(row, "turn_id", "messages_json", "at")) for row in reversed(newest_first)
        )

    async def reset(self, session_key: SessionKey, at: datetime) -> None:
        # By row, not by time: a clock that was set back must not hide what is said afterwards.
        last = (
            select(func.coalesce(func.max(history.c.id), 0))
            .where(history.c.session_key == session_key)
            .scalar_subquery()
        )
        statement = insert_into(session_resets).values(session_key=session_key, after_id=last, at=at)
        upsert = statement.on_conflict_do_update(
            index_elements=["session_key"],
            set_={"after_id": statement.excluded.after_id, "at": statement.excluded.at},
        )
        forget = delete(summaries).where(summaries.c.session_key == session_key)

        def work(connection: Connection) -> None:
            connection.execute(upsert)
            connection.execute(forget)

        await self._database.write(work)

    async def put_transcript(self, row: TranscriptRow) -> None:
        await self._database.write(lambda connection: store_line(connection, row))

    async def transcript(self, address: Address, limit: int) -> tuple[TranscriptRow, ...]:
        statement = (
            select(transcript).where(is_at(transcript, address)).order_by(transcript.c.id.desc()).limit(limit)
        )
        return (await self._database.rows(statement, _transcript_row))[::-1]

    async def chats(
        self, channel: str | None, chat_id: str | None, limit: int, *, account: str | None = None
    ) -> tuple[tuple[Address, datetime], ...]:
        columns = [transcript.c[name] for name in ADDRESS]
        last = func.max(transcript.c.at, type_=transcript.c.at.type).label("at")
        statement = select(*columns, last).group_by(*columns).order_by(last.desc()).limit(limit)
        if channel is not None:
            statement = statement.where(transcript.c.channel == channel)
        if chat_id is not None:
            statement = statement.where(transcript.c.chat_id == chat_id)
        if account is not None:
            statement = statement.where(transcript.c.account == account)
        return await self._database.rows(statement, lambda row: (address_of(row), row["at"]))

    async def last_spoke(self, sender: Identity) -> tuple[Address, datetime] | None:
        statement = (
            select(transcript)
            .where(transcript.c.sender == str(sender))
            .where(transcript.c.role == "user")
            .order_by(transcript.c.at.desc(), transcript.c.id.desc())
            .limit(1)
        )
        return await self._database.first(statement, lambda row: (address_of(row), row["at"]))

    async def search(
        self, terms: Terms, limit: int, *, scope: str | None, roles: tuple[str, ...]
    ) -> tuple[TranscriptRow, ...]:
        where = f"t.role IN ({', '.join('?' for _ in roles)})" + ("" if scope is None else " AND t.scope = ?")
        parameters = roles if scope is None else (*roles, scope)

        def work(connection: Connection) -> tuple[TranscriptRow, ...]:
            found = search(connection.exec_driver_sql, "transcript", terms, limit, where, parameters)
            rows = connection.execute(select(transcript).where(transcript.c.id.in_(found))).mappings()
            by_id = {row["id"]: _transcript_row(row) for row in rows}
            return tuple(by_id[each] for each in found)

        return await self._database.read(work)

    async def speakers(self, address: Address, since: datetime) -> frozenset[str]:
        statement = (
            select(transcript.c.sender)
            .where(is_at(transcript, address))
            .where(transcript.c.role == "user")
            .where(transcript.c.at > since)
            .distinct()
        )
        return frozenset(await self._database.rows(statement, lambda row: str(row["sender"])))


def store_line(connection: Connection, row: TranscriptRow, *, of_turn: str | None = None) -> None:
    """Insert the row, or put its contents in place of the row with that address and entry id.

    One that does not say its scope has that of the turn `of_turn`; without one, it keeps the older one's.
    """
    values = {name: getattr(row, name) for name in ("entry_id", *_CONTENTS)} | address_values(row.address)
    if row.scope:
        _PUT_LINE.count(connection, {**values, "scope": row.scope})
    elif of_turn is not None:
        _PUT_LINE_OF_TURN.count(connection, {**values, "of_turn": of_turn})
    else:
        _PUT_LINE_AS_BEFORE.count(connection, values)


def _transcript_row(row: Row) -> TranscriptRow:
    names = ("entry_id", "role", "text", "at", "sender", "card_json", "scope")
    return TranscriptRow(address=address_of(row), **fields(row, *names))
