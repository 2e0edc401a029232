"""What models used, added up by day and session; and the summaries of older turns."""

from __future__ import annotations

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.engine import RowMapping

from echo_bot.events import SessionKey
from echo_bot.storage.columns import fields
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.usage_record import Summary, UsageRow, UsageTotal
from echo_bot.storage.usage_tables import summaries, usage

_SUMS = ("input_tokens", "output_tokens", "cached_tokens", "seconds")


class SqlUsage:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, row: UsageRow) -> bool:
        values = {column.name: getattr(row, column.name) for column in usage.columns}
        return await self._database.change(insert_into(usage).values(values).on_conflict_do_nothing()) == 1

    async def of_day(self, day: str) -> tuple[UsageTotal, ...]:
        return await self._totals(usage.c.day == day)

    async def of_session(self, session_key: SessionKey) -> tuple[UsageTotal, ...]:
        return await self._totals(usage.c.session_key == session_key)

    async def of_turn(self, turn_id: str) -> tuple[UsageTotal, ...]:
        return await self._totals(usage.c.turn_id == turn_id)

    async def _totals(self, where: ColumnElement[bool]) -> tuple[UsageTotal, ...]:
        sums = [func.sum(usage.c[name]).label(name) for name in _SUMS]
        statement = (
            select(
                usage.c.model,
                usage.c.kind,
                func.count().label("answers"),
                *sums,
                func.coalesce(func.sum(usage.c.cost_nanos), 0).label("cost_nanos"),
                (func.count() - func.count(usage.c.cost_nanos)).label("unknown_costs"),
            )
            .where(where)
            .group_by(usage.c.model, usage.c.kind)
            .order_by(
                func.sum(usage.c.input_tokens + usage.c.output_tokens).desc(), usage.c.model, usage.c.kind
            )
        )
        return await self._database.rows(statement, _total)


class SqlSummaries:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, session_key: SessionKey) -> Summary | None:
        statement = select(summaries).where(summaries.c.session_key == session_key)
        return await self._database.first(
            statement, lambda row: Summary(**fields(row, "through_turn", "through_at", "text"))
        )

    async def put(self, session_key: SessionKey, summary: Summary) -> None:
        values = {
            "through_turn": summary.through_turn,
            "through_at": summary.through_at,
            "text": summary.text,
        }
        statement = insert_into(summaries).values(session_key=session_key, **values)
        await self._database.change(
            statement.on_conflict_do_update(index_elements=["session_key"], set_=values)
        )


def _total(row: RowMapping) -> UsageTotal:
    return UsageTotal(**fields(row, "model", "kind", "answers", *_SUMS, "cost_nanos", "unknown_costs"))
