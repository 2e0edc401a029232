"""The tables. Plain Core metadata: SQLite and PostgreSQL create the same thing from it.

A change needs a revision in `migrations/versions` and its name in `schema.REVISIONS`; a test compares them.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    event,
    false,
)

from echo_bot.storage.columns import ADDRESS, RowId, UtcTime, address_columns, text_column
from echo_bot.storage.fulltext import full_text_ddl

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

seen = Table(
    "seen",
    metadata,
    Column("dedup_id", Text, primary_key=True),
    Column("at", UtcTime, nullable=False),
    Index(None, "at"),
)

turns = Table(
    "turns",
    metadata,
    Column("order", RowId, primary_key=True),
    text_column("turn_id"),
    text_column("session_key"),
    text_column("event_id"),
    text_column("event_json"),
    text_column("state"),
    Column("created_at", UtcTime, nullable=False),
    text_column("error", default=""),
    text_column("memory_scope", default=""),
    text_column("kind", default="message"),
    text_column("parent", default=""),
    text_column("result", default=""),
    UniqueConstraint("turn_id"),
    Index(None, "state", "order"),
    Index(None, "session_key", "event_id"),
    Index(None, "parent", "state"),
    sqlite_autoincrement=True,
)

journal = Table(
    "journal",
    metadata,
    Column("seq", RowId, primary_key=True),
    Column("turn_id", Text, ForeignKey("turns.turn_id", ondelete="CASCADE"), nullable=False),
    text_column("kind"),
    text_column("key"),
    text_column("payload"),
    UniqueConstraint("turn_id", "kind", "key"),
    sqlite_autoincrement=True,
)

history = Table(
    "history",
    metadata,
    Column("id", RowId, primary_key=True),
    text_column("session_key"),
    text_column("turn_id"),
    text_column("messages_json"),
    Column("at", UtcTime, nullable=False),
    UniqueConstraint("turn_id"),
    Index(None, "session_key", "id"),
    sqlite_autoincrement=True,
)

session_resets = Table(
    "session_resets",
    metadata,
    Column("session_key", Text, primary_key=True),
    Column("after_id", RowId, nullable=False),
    Column("at", UtcTime, nullable=False),
)

transcript = Table(
    "transcript",
    metadata,
    Column("id", RowId, primary_key=True),
    *address_columns(),
    text_column("entry_id"),
    text_column("role"),
    text_column("text"),
    Column("at", UtcTime, nullable=False),
    text_column("sender", default=""),
    text_column("card_json", default=""),
    text_column("scope", default=""),
    UniqueConstraint(*ADDRESS, "entry_id"),
    Index(None, *ADDRESS, "id"),
    Index(None, "sender", "at"),
    Index(None, "scope", "id"),
    sqlite_autoincrement=True,
)


@event.listens_for(transcript, "after_create")
def _index_transcript(_table: Table, connection: Connection, **_options: object) -> None:
    if connection.dialect.name == "sqlite":
        for statement in full_text_ddl("transcript"):
            connection.exec_driver_sql(statement)


memories = Table(
    "memories",
    metadata,
    Column("id", RowId, primary_key=True),
    text_column("scope"),
    text_column("target"),
    text_column("content"),
    Column("created_at", UtcTime, nullable=False),
    text_column("created_by"),
    Column("changed_at", UtcTime, nullable=False),
    text_column("changed_by"),
    text_column("turn_id"),
    text_column("call_key"),
    UniqueConstraint("turn_id", "call_key"),
    Index(None, "scope", "id"),
    sqlite_autoincrement=True,
)

approvals = Table(
    "approvals",
    metadata,
    Column("approval_id", Text, primary_key=True),
    text_column("turn_id"),
    text_column("session_key"),
    text_column("kind"),
    text_column("requester"),
    *address_columns(),
    text_column("tool"),
    text_column("digest"),
    text_column("risk"),
    text_column("request_json"),
    text_column("offered_json"),
    text_column("tokens_json"),
    text_column("status"),
    Column("created_at", UtcTime, nullable=False),
    Column("timeout_seconds", Integer, nullable=False),
    Column("deadline", UtcTime),
    Column("decided_at", UtcTime),
    text_column("decided_by", default=""),
    text_column("decided_by_name", default=""),
    text_column("decision", default=""),
    text_column("answer", default=""),
    Column("decision_seq", RowId, nullable=False, server_default="0"),
    Column("quorum", Integer, nullable=False, server_default="1"),
    text_column("edited_by", default=""),
    text_column("edited_json", default=""),
    Column("remind_at", UtcTime),
    Column("escalate_at", UtcTime),
    Index(None, "status", "created_at"),
    Index(None, "decision_seq"),
    Index(None, "turn_id"),
)

approval_tokens = Table(
    "approval_tokens",
    metadata,
    Column("token", Text, primary_key=True),
    Column("approval_id", Text, ForeignKey("approvals.approval_id", ondelete="CASCADE"), nullable=False),
    text_column("decision"),
    Index(None, "approval_id"),
)

approval_copies = Table(
    "approval_copies",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("approval_id", Text, ForeignKey("approvals.approval_id", ondelete="CASCADE"), nullable=False),
    *address_columns(),
    text_column("message_id"),
    Column("ended", Boolean, server_default=false(), nullable=False),
    UniqueConstraint("approval_id", *ADDRESS, "message_id"),
    sqlite_autoincrement=True,
)

approval_votes = Table(
    "approval_votes",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("approval_id", Text, ForeignKey("approvals.approval_id", ondelete="CASCADE"), nullable=False),
    text_column("person"),
    text_column("voter"),
    text_column("voter_name", default=""),
    text_column("digest"),
    Column("at", UtcTime, nullable=False),
    UniqueConstraint("approval_id", "person"),
    sqlite_autoincrement=True,
)

counters = Table(
    "counters",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", RowId, nullable=False),
)

grants = Table(
    "grants",
    metadata,
    Column("grant_id", Text, primary_key=True),
    text_column("owner"),
    text_column("digest"),
    text_column("tool"),
    text_column("summary"),
    text_column("scope"),
    text_column("session_key"),
    Column("created_at", UtcTime, nullable=False),
    text_column("created_by"),
    Column("expires_at", UtcTime),
    Column("uses", Integer, nullable=False, server_default="0"),
    Column("last_used_at", UtcTime),
    Index(None, "owner", "digest"),
    Index(None, "session_key"),
)

outbox = Table(
    "outbox",
    metadata,
    Column("row_id", RowId, primary_key=True),
    text_column("source"),
    Column("part", Integer, nullable=False),
    *address_columns(),
    text_column("body_json"),
    Column("created_at", UtcTime, nullable=False),
    text_column("state"),
    Column("tries", Integer, nullable=False, server_default="0"),
    Column("next_try_at", UtcTime),
    text_column("message_id", default=""),
    text_column("error", default=""),
    UniqueConstraint("source", "part"),
    Index(None, "state", *ADDRESS, "row_id"),
    sqlite_autoincrement=True,
)

audit = Table(
    "audit",
    metadata,
    Column("id", RowId, primary_key=True),
    text_column("writer"),
    Column("seq", RowId, nullable=False),
    Column("at", UtcTime, nullable=False),
    text_column("kind"),
    text_column("body_json"),
    text_column("prev"),
    text_column("mac"),
    UniqueConstraint("writer", "seq"),
    Index(None, "at"),
    sqlite_autoincrement=True,
)

audit_heads = Table(
    "audit_heads",
    metadata,
    Column("writer", Text, primary_key=True),
    Column("seq", RowId, nullable=False),
    text_column("mac"),
    Column("at", UtcTime, nullable=False),
)

sealed = Table(
    "sealed",
    metadata,
    text_column("owner"),
    text_column("field"),
    text_column("key_id"),
    Column("nonce", LargeBinary, nullable=False),
    Column("ciphertext", LargeBinary, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    PrimaryKeyConstraint("owner", "field"),
)

pairing_codes = Table(
    "pairing_codes",
    metadata,
    Column("code_hash", Text, primary_key=True),
    text_column("roles_json"),
    Column("expires_at", UtcTime, nullable=False),
)

pairing_misses = Table(
    "pairing_misses",
    metadata,
    Column("id", RowId, primary_key=True),
    text_column("identity"),
    Column("at", UtcTime, nullable=False),
    Index(None, "identity", "at"),
    sqlite_autoincrement=True,
)

paired_senders = Table(
    "paired_senders",
    metadata,
    Column("identity", Text, primary_key=True),
    text_column("roles_json"),
    Column("paired_at", UtcTime, nullable=False),
)

login_links = Table(
    "login_links",
    metadata,
    Column("link_hash", Text, primary_key=True),
    text_column("identity"),
    Column("expires_at", UtcTime, nullable=False),
)

login_cookies = Table(
    "login_cookies",
    metadata,
    Column("cookie_hash", Text, primary_key=True),
    text_column("identity"),
    Column("expires_at", UtcTime, nullable=False),
)

values = Table(
    "kept_values",
    metadata,
    text_column("scope"),
    text_column("key"),
    text_column("value"),
    PrimaryKeyConstraint("scope", "key"),
)

signals = Table(
    "signals",
    metadata,
    Column("id", RowId, primary_key=True),
    text_column("topic"),
    text_column("payload"),
    text_column("sender"),
    Column("at", UtcTime, nullable=False),
    Index(None, "at"),
    sqlite_autoincrement=True,
)

leases = Table(
    "leases",
    metadata,
    Column("name", Text, primary_key=True),
    text_column("holder"),
    Column("token", RowId, nullable=False),
    Column("expires_at", UtcTime, nullable=False),
)
