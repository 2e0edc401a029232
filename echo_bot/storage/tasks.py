"""Tasks."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, func, select, update
from sqlalchemy.engine import RowMapping

from echo_bot.storage.columns import fields
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.flow_records import TaskRecord, TaskState
from echo_bot.storage.flow_tables import tasks

_PLAIN = (
    "task_id",
    "owner",
    "title",
    "created_at",
    "changed_at",
    "notes",
    "instruction",
    "result",
    "start_at",
    "event_json",
    "turn_id",
    "starts",
)
_NOT_CLOSED = tuple(state.value for state in TaskState if not state.is_closed)


class SqlTasks:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, task: TaskRecord, most: int) -> bool:
        count = (
            select(func.count())
            .select_from(tasks)
            .where(tasks.c.owner == task.owner)
            .where(tasks.c.state.in_(_NOT_CLOSED))
        )

        def work(connection: Connection) -> bool:
            if connection.execute(count).scalar_one() >= most:
                return False
            connection.execute(insert_into(tasks).values(_values(task)))
            return True

        return await self._database.write(work)

    async def get(self, task_id: str) -> TaskRecord | None:
        return await self._database.first(select(tasks).where(tasks.c.task_id == task_id), _task)

    async def list(
        self, owner: str | None, limit: int, states: tuple[TaskState, ...] = ()
    ) -> tuple[TaskRecord, ...]:
        statement = select(tasks).order_by(tasks.c.created_at.desc(), tasks.c.task_id).limit(limit)
        if owner is not None:
            statement = statement.where(tasks.c.owner == owner)
        if states:
            statement = statement.where(tasks.c.state.in_([state.value for state in states]))
        return tuple(reversed(await self._database.rows(statement, _task)))

    async def scheduled(self) -> tuple[TaskRecord, ...]:
        statement = (
            select(tasks)
            .where(tasks.c.state == TaskState.OPEN.value)
            .where(tasks.c.start_at.is_not(None))
            .order_by(tasks.c.start_at)
        )
        return await self._database.rows(statement, _task)

    async def under_way(self) -> tuple[TaskRecord, ...]:
        statement = select(tasks).where(tasks.c.state == TaskState.STARTED.value).where(tasks.c.turn_id != "")
        return await self._database.rows(statement, _task)

    async def change(self, before: TaskRecord, after: TaskRecord) -> bool:
        statement = (
            update(tasks)
            .where(tasks.c.task_id == before.task_id)
            .where(tasks.c.state == before.state.value)
            .where(tasks.c.starts == before.starts)
            .where(tasks.c.start_at.is_not_distinct_from(before.start_at))
            .values(_values(after))
        )
        return await self._database.change(statement) == 1


def _values(task: TaskRecord) -> dict[str, Any]:
    return {**{name: getattr(task, name) for name in _PLAIN}, "state": task.state.value}


def _task(row: RowMapping) -> TaskRecord:
    return TaskRecord(state=TaskState(row["state"]), **fields(row, *_PLAIN))
