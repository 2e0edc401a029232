"""Workflows and their steps."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.engine import RowMapping

from echo_bot.storage.columns import fields
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.flow_records import Created, StepRecord, StepState, WorkflowRecord, WorkflowState
from echo_bot.storage.flow_tables import workflow_steps, workflows

_PLAIN = (
    "workflow_id",
    "owner",
    "name",
    "steps_json",
    "created_at",
    "changed_at",
    "session_key",
    "turn_id",
    "event_json",
    "leg",
    "resume_at",
)
_STEP = ("step_id", "attempt", "leg", "output", "error", "try_at")


class SqlWorkflows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, record: WorkflowRecord, steps: tuple[StepRecord, ...], most: int) -> Created:
        def work(connection: Connection) -> Created:
            mine = workflows.c.owner == record.owner
            named = select(workflows).where(mine).where(workflows.c.name == record.name)
            known = connection.execute(named).mappings().first()
            if known is not None and WorkflowState(known["state"]).is_under_way:
                return "under_way"
            if known is None:
                count = select(func.count()).select_from(workflows).where(mine)
                if connection.execute(count).scalar_one() >= most:
                    return "full"
            else:
                old = workflows.c.workflow_id == known["workflow_id"]
                connection.execute(delete(workflows).where(old))
            connection.execute(insert_into(workflows).values(_values(record)))
            _put_steps(connection, record.workflow_id, steps)
            return "created" if known is None else "replaced"

        return await self._database.write(work)

    async def get(self, workflow_id: str) -> WorkflowRecord | None:
        statement = select(workflows).where(workflows.c.workflow_id == workflow_id)
        return await self._database.first(statement, _workflow)

    async def named(self, owner: str, name: str) -> WorkflowRecord | None:
        statement = select(workflows).where(workflows.c.owner == owner).where(workflows.c.name == name)
        return await self._database.first(statement, _workflow)

    async def list(self, owner: str | None, limit: int) -> tuple[WorkflowRecord, ...]:
        statement = select(workflows).order_by(workflows.c.changed_at.desc()).limit(limit)
        if owner is not None:
            statement = statement.where(workflows.c.owner == owner)
        return await self._database.rows(statement, _workflow)

    async def in_state(self, state: WorkflowState) -> tuple[WorkflowRecord, ...]:
        statement = select(workflows).where(workflows.c.state == state.value).order_by(workflows.c.created_at)
        return await self._database.rows(statement, _workflow)

    async def change(
        self, before: WorkflowRecord, after: WorkflowRecord, steps: tuple[StepRecord, ...] = ()
    ) -> bool:
        statement = (
            update(workflows)
            .where(workflows.c.workflow_id == before.workflow_id)
            .where(workflows.c.state == before.state.value)
            .where(workflows.c.leg == before.leg)
            .where(workflows.c.resume_at.is_not_distinct_from(before.resume_at))
            .values(_values(after))
        )

        def work(connection: Connection) -> bool:
            if connection.execute(statement).rowcount == 0:
                return False
            _put_steps(connection, after.workflow_id, steps)
            return True

        return await self._database.write(work)

    async def steps(self, workflow_id: str) -> tuple[StepRecord, ...]:
        statement = select(workflow_steps).where(workflow_steps.c.workflow_id == workflow_id)
        return await self._database.rows(statement.order_by(workflow_steps.c.step_id), _step)

    async def put_step(self, workflow_id: str, step: StepRecord) -> None:
        await self._database.write(lambda connection: _put_steps(connection, workflow_id, (step,)))

    async def decide_step(self, workflow_id: str, step: StepRecord) -> bool:
        statement = (
            update(workflow_steps)
            .where(workflow_steps.c.workflow_id == workflow_id)
            .where(workflow_steps.c.step_id == step.step_id)
            .where(workflow_steps.c.state == StepState.WAITING.value)
            .values(_step_values(workflow_id, step))
        )
        return await self._database.change(statement) == 1


def _put_steps(connection: Connection, workflow_id: str, steps: tuple[StepRecord, ...]) -> None:
    for step in steps:
        values = _step_values(workflow_id, step)
        statement = insert_into(workflow_steps).values(values)
        connection.execute(
            statement.on_conflict_do_update(index_elements=["workflow_id", "step_id"], set_=values)
        )


def _values(record: WorkflowRecord) -> dict[str, Any]:
    return {**{name: getattr(record, name) for name in _PLAIN}, "state": record.state.value}


def _step_values(workflow_id: str, step: StepRecord) -> dict[str, Any]:
    plain = {name: getattr(step, name) for name in _STEP}
    return {"workflow_id": workflow_id, "state": step.state.value, **plain}


def _workflow(row: RowMapping) -> WorkflowRecord:
    return WorkflowRecord(state=WorkflowState(row["state"]), **fields(row, *_PLAIN))


def _step(row: RowMapping) -> StepRecord:
    return StepRecord(state=StepState(row["state"]), **fields(row, *_STEP))
