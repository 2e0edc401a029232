"""The definitions of MCP tools."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Column, Connection, PrimaryKeyConstraint, Table, delete, select, update
from sqlalchemy.engine import RowMapping

from echo_bot.storage.columns import UtcTime, fields, text_column
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.mcp_records import McpDefinitionRecord, SeenDefinition
from echo_bot.storage.tables import metadata

mcp_definitions = Table(
    "mcp_definitions",
    metadata,
    text_column("server"),
    text_column("tool"),
    text_column("seen_digest"),
    text_column("seen"),
    Column("seen_at", UtcTime, nullable=False),
    text_column("pinned_digest", default=""),
    text_column("pinned", default=""),
    text_column("pinned_by", default=""),
    Column("pinned_at", UtcTime),
    PrimaryKeyConstraint("server", "tool"),
)

_NAMES = (
    "server",
    "tool",
    "seen_digest",
    "seen",
    "seen_at",
    "pinned_digest",
    "pinned",
    "pinned_by",
    "pinned_at",
)


class SqlMcpDefinitions:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, server: str | None = None) -> tuple[McpDefinitionRecord, ...]:
        table = mcp_definitions
        statement = select(table).order_by(table.c.server, table.c.tool)
        if server is not None:
            statement = statement.where(table.c.server == server)
        return await self._database.rows(statement, _record)

    async def see(self, server: str, listed: Sequence[SeenDefinition], at: datetime) -> None:
        table = mcp_definitions

        def work(connection: Connection) -> None:
            gone = delete(table).where(table.c.server == server).where(table.c.pinned_digest == "")
            connection.execute(gone.where(table.c.tool.not_in([each.tool for each in listed])))
            for each in listed:
                seen = {"seen_digest": each.digest, "seen": each.text, "seen_at": at}
                statement = insert_into(table).values(server=server, tool=each.tool, **seen)
                connection.execute(
                    statement.on_conflict_do_update(index_elements=["server", "tool"], set_=seen)
                )

        await self._database.write(work)

    async def pin(self, server: str, tool: str, digest: str, by: str, at: datetime) -> bool:
        table = mcp_definitions
        statement = (
            update(table)
            .where(table.c.server == server)
            .where(table.c.tool == tool)
            .where(table.c.seen_digest == digest)
            .values(pinned_digest=table.c.seen_digest, pinned=table.c.seen, pinned_by=by, pinned_at=at)
        )
        return await self._database.change(statement) == 1

    async def unpin(self, server: str, tool: str | None) -> int:
        table = mcp_definitions
        statement = update(table).where(table.c.server == server).where(table.c.pinned_digest != "")
        if tool is not None:
            statement = statement.where(table.c.tool == tool)
        nothing = {"pinned_digest": "", "pinned": "", "pinned_by": "", "pinned_at": None}
        return await self._database.change(statement.values(**nothing))


def _record(row: RowMapping) -> McpDefinitionRecord:
    return McpDefinitionRecord(**fields(row, *_NAMES))
