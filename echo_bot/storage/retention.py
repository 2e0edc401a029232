"""Forgetting: what is closed and older than it has to be kept, in one transaction."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, Delete, delete, select

from echo_bot.storage.checkpoint_tables import retried_turns
from echo_bot.storage.database import Database
from echo_bot.storage.flow_records import TaskState, WorkflowState
from echo_bot.storage.flow_tables import tasks, workflows
from echo_bot.storage.records import ApprovalStatus, TurnState
from echo_bot.storage.tables import approvals, history, outbox, transcript, turns
from echo_bot.storage.usage_tables import summaries, usage

_FINAL = [state.value for state in TurnState if state.is_final]
_CLOSED_TASKS = [state.value for state in TaskState if state.is_closed]
_UNDER_WAY = [state.value for state in WorkflowState if state.is_under_way]
_SENT = ("sent", "dead")


class SqlRetention:
    """Open questions, unfinished turns and unsent messages are never forgotten, however old."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def forget_before(self, before: datetime) -> int:
        def work(connection: Connection) -> int:
            return sum(connection.execute(statement).rowcount for statement in _statements(before))

        return await self._database.write(work)


def _statements(before: datetime) -> tuple[Delete, ...]:
    """Journals go with their turns, tokens and copies with their approvals."""
    return (
        delete(history).where(history.c.at < before),
        delete(summaries).where(summaries.c.through_at < before),
        delete(usage).where(usage.c.at < before),
        delete(transcript).where(transcript.c.at < before),
        delete(outbox).where(outbox.c.created_at < before).where(outbox.c.state.in_(_SENT)),
        delete(approvals)
        .where(approvals.c.created_at < before)
        .where(approvals.c.status != ApprovalStatus.PENDING.value),
        delete(turns).where(turns.c.created_at < before).where(turns.c.state.in_(_FINAL)),
        delete(tasks).where(tasks.c.changed_at < before).where(tasks.c.state.in_(_CLOSED_TASKS)),
        delete(workflows).where(workflows.c.changed_at < before).where(workflows.c.state.not_in(_UNDER_WAY)),
        delete(retried_turns).where(retried_turns.c.turn_id.not_in(select(turns.c.turn_id))),
    )
