"""SqlStore: every area of the store over one database."""

from __future__ import annotations

from echo_bot.storage.approvals import SqlApprovals
from echo_bot.storage.audit_rows import SqlAuditRows
from echo_bot.storage.checkpoints import SqlCheckpoints
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import sqlite_engine
from echo_bot.storage.events import SqlEvents
from echo_bot.storage.grants import SqlGrants
from echo_bot.storage.jobs import SqlJobs
from echo_bot.storage.logins import SqlLogins
from echo_bot.storage.mcp import SqlMcpDefinitions
from echo_bot.storage.memories import SqlMemories
from echo_bot.storage.moves import SqlMoves
from echo_bot.storage.outbox import SqlOutbox
from echo_bot.storage.people import SqlPeople
from echo_bot.storage.records import StoreInfo
from echo_bot.storage.retention import SqlRetention
from echo_bot.storage.schema import bring_up_to_date
from echo_bot.storage.sealed import SqlSealedValues
from echo_bot.storage.sessions import SqlSessions
from echo_bot.storage.sqlite_file import database_path, prepare_file, sqlite_url
from echo_bot.storage.tasks import SqlTasks
from echo_bot.storage.turns import SqlTurns
from echo_bot.storage.usage import SqlSummaries, SqlUsage
from echo_bot.storage.values import SqlValues
from echo_bot.storage.workflows import SqlWorkflows

__all__ = ["SqlStore", "open_store", "sqlite_url"]


class SqlStore:
    """The Store over SQLAlchemy Core. `url`: `sqlite+aiosqlite:///path`; `sqlite:///path` means the same."""

    def __init__(self, url: str) -> None:
        self.path = database_path(url)
        self._revision = ""
        self._database = Database(
            reader=sqlite_engine(self.path, writes=False), writer=sqlite_engine(self.path, writes=True)
        )
        self.events = SqlEvents(self._database)
        self.turns = SqlTurns(self._database)
        self.sessions = SqlSessions(self._database)
        self.approvals = SqlApprovals(self._database)
        self.grants = SqlGrants(self._database)
        self.outbox = SqlOutbox(self._database)
        self.audit = SqlAuditRows(self._database)
        self.sealed = SqlSealedValues(self._database)
        self.people = SqlPeople(self._database)
        self.logins = SqlLogins(self._database)
        self.values = SqlValues(self._database)
        self.usage = SqlUsage(self._database)
        self.summaries = SqlSummaries(self._database)
        self.memories = SqlMemories(self._database)
        self.mcp = SqlMcpDefinitions(self._database)
        self.checkpoints = SqlCheckpoints(self._database)
        self.moves = SqlMoves(self._database)
        self.workflows = SqlWorkflows(self._database)
        self.tasks = SqlTasks(self._database)
        self.retention = SqlRetention(self._database)
        self.jobs = SqlJobs(self._database)

    async def open(self) -> None:
        prepare_file(self.path)
        try:
            self._revision = await self._database.write(bring_up_to_date)
        except BaseException:
            await self._database.close()
            raise

    async def close(self) -> None:
        await self._database.close()

    async def info(self) -> StoreInfo:
        size = self.path.stat().st_size if self.path.exists() else 0
        return StoreInfo(
            url=sqlite_url(self.path),
            revision=self._revision,
            details={"path": str(self.path), "bytes": str(size)},
        )


async def open_store(url: str) -> SqlStore:
    """Open, create or migrate the store at `url`. Raises StorageError."""
    store = SqlStore(url)
    await store.open()
    return store
