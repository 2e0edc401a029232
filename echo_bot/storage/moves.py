"""A chat that got a new id: what is stored under the old one goes over in one transaction."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Table,
    and_,
    delete,
    exists,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.engine import RowMapping

from echo_bot.events import Address
from echo_bot.storage.checkpoint_tables import checkpoints
from echo_bot.storage.columns import ADDRESS
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.flow_tables import tasks, workflows
from echo_bot.storage.job_tables import jobs
from echo_bot.storage.records import GROUP_SCOPE, ChatMove
from echo_bot.storage.tables import (
    approval_copies,
    approvals,
    grants,
    history,
    memories,
    outbox,
    session_resets,
    transcript,
    turns,
    values,
)
from echo_bot.storage.usage_tables import summaries, usage

_SCOPE = "moved_chats"
_SCOPED = ((memories, "scope"), (transcript, "scope"), (turns, "memory_scope"), (jobs, "memory_scope"))
"""What belongs to a memory scope; that of a group begins with its chat."""


class SqlMoves:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def move(self, move: ChatMove) -> int:
        def work(connection: Connection) -> int:
            key = json.dumps([move.channel, move.account, move.old_id])
            statement = insert_into(values).values(scope=_SCOPE, key=key, value=move.new_id)
            connection.execute(
                statement.on_conflict_do_update(index_elements=["scope", "key"], set_={"value": move.new_id})
            )
            # Back to an id that was left once: it is no old one any more.
            back = json.dumps([move.channel, move.account, move.new_id])
            connection.execute(delete(values).where(values.c.scope == _SCOPE).where(values.c.key == back))
            return _move_chats(connection, move) + _move_sessions(connection, move)

        return await self._database.write(work)

    async def list(self) -> tuple[tuple[Address, str], ...]:
        def moved(row: RowMapping) -> tuple[Address, str]:
            channel, account, chat_id = json.loads(row["key"])
            return Address(channel, chat_id, account=account), str(row["value"])

        return await self._database.rows(select(values).where(values.c.scope == _SCOPE), moved)


def _move_chats(connection: Connection, move: ChatMove) -> int:
    changed = 0
    for table in (outbox, approvals):
        changed += _count(connection, table, _is_there(table, move), chat_id=move.new_id)
    changed += _move_unique(connection, approval_copies, "message_id", ("approval_id",), move)
    return changed + _move_unique(connection, transcript, "entry_id", (), move)


def _move_unique(
    connection: Connection, table: Table, name: str, more: tuple[str, ...], move: ChatMove
) -> int:
    """Message ids may begin anew in the new chat: one that is taken there gets the old chat before it."""
    there = table.alias("there")
    same = (*more, "channel", "account", "thread_id", name)
    taken = exists().where(
        and_(there.c.chat_id == move.new_id, *(there.c[each] == table.c[each] for each in same))
    )
    at_old = _is_there(table, move)
    changed = _count(connection, table, and_(at_old, ~taken), chat_id=move.new_id)
    renamed: dict[str, Any] = {"chat_id": move.new_id, name: move.old_id + "/" + table.c[name]}
    return changed + _count(connection, table, at_old, **renamed)


def _move_sessions(connection: Connection, move: ChatMove) -> int:
    _rewrite_events(connection, move)
    _rewrite_kept_events(connection, move)
    changed = 0
    for table in (turns, history, approvals, grants, checkpoints, usage, workflows):
        column = table.c.session_key
        changed += _count(
            connection, table, _of_session(column, "", move), session_key=_renamed(column, "", move)
        )
    changed += _move_resets(connection, move)
    for table, column, head in _kept():
        there = table.alias("there")
        same = [there.c[c.name] == table.c[c.name] for c in table.primary_key if c.name != column.name]
        taken = exists().where(and_(there.c[column.name] == _renamed(column, head, move), *same))
        changed += _count(
            connection,
            table,
            and_(_of_session(column, head, move), ~taken),
            **{column.name: _renamed(column, head, move)},
        )
    return changed


def _move_resets(connection: Connection, move: ChatMove) -> int:
    """The later reset counts where both sessions had one: history ids are one sequence for all."""
    column = session_resets.c.session_key
    found = connection.execute(select(session_resets).where(_of_session(column, "", move))).mappings().all()
    for row in found:
        new_key = move.new_session + row["session_key"].removeprefix(move.old_session)
        known = connection.execute(select(session_resets).where(column == new_key)).mappings().first()
        after_id = max(row["after_id"], known["after_id"] if known else 0)
        statement = insert_into(session_resets).values(session_key=new_key, after_id=after_id, at=row["at"])
        later = {"after_id": after_id}
        connection.execute(statement.on_conflict_do_update(index_elements=["session_key"], set_=later))
    connection.execute(delete(session_resets).where(_of_session(column, "", move)))
    return len(found)


def _kept() -> tuple[tuple[Table, Column[Any], str], ...]:
    """What else belongs to a session or a group's memory, by what stands before the session's key."""
    return (
        (values, values.c.scope, "todo:"),
        (values, values.c.scope, "model:"),
        (summaries, summaries.c.session_key, ""),
        *((table, table.c[name], GROUP_SCOPE) for table, name in _SCOPED),
    )


def _rewrite_events(connection: Connection, move: ChatMove) -> None:
    """Turns are revived, and asked again, from their stored events."""
    query = select(turns.c.turn_id, turns.c.event_json).where(_of_session(turns.c.session_key, "", move))
    found = connection.execute(query).all()
    for turn_id, text in found:
        event = json.loads(text)
        if event.get("chat_id") == move.old_id:
            rewritten = json.dumps(event | {"chat_id": move.new_id}, ensure_ascii=False)
            connection.execute(update(turns).where(turns.c.turn_id == turn_id).values(event_json=rewritten))


def _rewrite_kept_events(connection: Connection, move: ChatMove) -> None:
    """Workflows and tasks begin turns from events they keep."""
    there = {"channel": move.channel, "account": move.account, "chat_id": move.old_id}
    old_scope = GROUP_SCOPE + move.old_session
    for table in (workflows, tasks):
        (key,) = table.primary_key.columns
        found = connection.execute(select(key, table.c.event_json).where(table.c.event_json != "")).all()
        for row_id, text in found:
            event = json.loads(text)
            if there.items() <= event.items():
                scope = str(event.get("memory_scope", ""))
                if scope == old_scope or scope.startswith(f"{old_scope}:"):
                    event["memory_scope"] = GROUP_SCOPE + move.new_session + scope.removeprefix(old_scope)
                rewritten = json.dumps(event | {"chat_id": move.new_id}, ensure_ascii=False)
                connection.execute(update(table).where(key == row_id).values(event_json=rewritten))


def _is_there(table: Table, move: ChatMove) -> ColumnElement[bool]:
    old = {"channel": move.channel, "account": move.account, "chat_id": move.old_id}
    return and_(*(table.c[name] == old[name] for name in ADDRESS if name in old))


def _of_session(column: Column[Any], head: str, move: ChatMove) -> ColumnElement[bool]:
    """The chat's own session and those of its threads and senders."""
    old = head + move.old_session
    return or_(column == old, func.substr(column, 1, len(old) + 1) == old + ":")


def _renamed(column: Column[Any], head: str, move: ChatMove) -> ColumnElement[str]:
    return (head + move.new_session) + func.substr(column, len(head + move.old_session) + 1)


def _count(connection: Connection, table: Table, where: ColumnElement[bool], **changes: Any) -> int:
    return connection.execute(update(table).where(where).values(changes)).rowcount
