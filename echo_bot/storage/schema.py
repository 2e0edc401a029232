"""The schema's age: made at once in a fresh database, brought forward in an older one.

alembic is imported only when an older schema is really there.
"""

from __future__ import annotations

from sqlalchemy import Connection, text

from echo_bot.storage.sqlite_file import APPLICATION_ID, REVISIONS, refuse_unknown_revision
from echo_bot.storage.tables import metadata

_VERSION_TABLE = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)


def bring_up_to_date(connection: Connection) -> str:
    """Make or migrate the tables inside the caller's transaction. Returns the revision."""
    current = _revision(connection)
    newest = REVISIONS[-1]
    if current is None:
        metadata.create_all(connection, checkfirst=False)
        connection.execute(text(_VERSION_TABLE))
        connection.execute(text("INSERT INTO alembic_version VALUES (:revision)"), {"revision": newest})
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    elif current != newest:
        refuse_unknown_revision(current, "the database")
        from echo_bot.storage.migrate import upgrade

        upgrade(connection)
    return newest


def _revision(connection: Connection) -> str | None:
    if not connection.dialect.has_table(connection, "alembic_version"):
        return None
    revision: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return revision
