"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from echo_bot.storage.fulltext import full_text_ddl

revision = "0001"
down_revision = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _messages()
    _memories()
    _full_text_search()
    _approvals()
    _outbox_and_audit()
    _secrets_and_people()
    _values_and_signals()


def _text(name: str, *, default: str | None = None) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default=default, nullable=False)


def _time(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=nullable)


def _messages() -> None:
    op.create_table(
        "seen", _text("dedup_id"), _time("at"), sa.PrimaryKeyConstraint("dedup_id", name="pk_seen")
    )
    op.create_index("ix_seen_at", "seen", ["at"])
    op.create_table(
        "turns",
        sa.Column("order", _BIG, nullable=False),
        _text("turn_id"),
        _text("session_key"),
        _text("event_id"),
        _text("event_json"),
        _text("state"),
        _time("created_at"),
        _text("error", default=""),
        _text("memory_scope", default=""),
        sa.PrimaryKeyConstraint("order", name="pk_turns"),
        sa.UniqueConstraint("turn_id", name="uq_turns_turn_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_turns_session_key", "turns", ["session_key", "event_id"])
    op.create_index("ix_turns_state", "turns", ["state", "order"])
    op.create_table(
        "journal",
        sa.Column("seq", _BIG, nullable=False),
        _text("turn_id"),
        _text("kind"),
        _text("key"),
        _text("payload"),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["turns.turn_id"], name="fk_journal_turn_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("seq", name="pk_journal"),
        sa.UniqueConstraint("turn_id", "kind", "key", name="uq_journal_turn_id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "history",
        sa.Column("id", _BIG, nullable=False),
        _text("session_key"),
        _text("turn_id"),
        _text("messages_json"),
        _time("at"),
        sa.PrimaryKeyConstraint("id", name="pk_history"),
        sa.UniqueConstraint("turn_id", name="uq_history_turn_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_history_session_key", "history", ["session_key", "id"])
    op.create_table(
        "session_resets",
        _text("session_key"),
        sa.Column("after_id", _BIG, nullable=False),
        _time("at"),
        sa.PrimaryKeyConstraint("session_key", name="pk_session_resets"),
    )
    op.create_table(
        "transcript",
        sa.Column("id", _BIG, nullable=False),
        _text("channel"),
        _text("account"),
        _text("chat_id"),
        _text("thread_id"),
        _text("entry_id"),
        _text("role"),
        _text("text"),
        _time("at"),
        _text("sender", default=""),
        _text("card_json", default=""),
        _text("scope", default=""),
        sa.PrimaryKeyConstraint("id", name="pk_transcript"),
        sa.UniqueConstraint(
            "channel", "account", "chat_id", "thread_id", "entry_id", name="uq_transcript_channel"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_transcript_channel", "transcript", ["channel", "account", "chat_id", "thread_id", "id"]
    )
    op.create_index("ix_transcript_sender", "transcript", ["sender", "at"])
    op.create_index("ix_transcript_scope", "transcript", ["scope", "id"])


def _memories() -> None:
    op.create_table(
        "memories",
        sa.Column("id", _BIG, nullable=False),
        _text("scope"),
        _text("target"),
        _text("content"),
        _time("created_at"),
        _text("created_by"),
        _time("changed_at"),
        _text("changed_by"),
        _text("turn_id"),
        _text("call_key"),
        sa.PrimaryKeyConstraint("id", name="pk_memories"),
        sa.UniqueConstraint("turn_id", "call_key", name="uq_memories_turn_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_memories_scope", "memories", ["scope", "id"])


def _full_text_search() -> None:
    """What the newest schema makes; a revision that changes it keeps this one's statements here."""
    if op.get_context().dialect.name == "sqlite":
        for statement in full_text_ddl("transcript"):
            op.execute(statement)


def _approvals() -> None:
    op.create_table(
        "approvals",
        _text("approval_id"),
        _text("turn_id"),
        _text("session_key"),
        _text("kind"),
        _text("requester"),
        _text("channel"),
        _text("account"),
        _text("chat_id"),
        _text("thread_id"),
        _text("tool"),
        _text("digest"),
        _text("risk"),
        _text("request_json"),
        _text("offered_json"),
        _text("tokens_json"),
        _text("status"),
        _time("created_at"),
        sa.Column("timeout_seconds", sa.Integer(), nullable=False),
        _time("deadline", nullable=True),
        _time("decided_at", nullable=True),
        _text("decided_by", default=""),
        _text("decided_by_name", default=""),
        _text("decision", default=""),
        _text("answer", default=""),
        sa.Column("decision_seq", _BIG, server_default="0", nullable=False),
        sa.Column("quorum", sa.Integer(), server_default="1", nullable=False),
        _text("edited_by", default=""),
        _text("edited_json", default=""),
        _time("remind_at", nullable=True),
        _time("escalate_at", nullable=True),
        sa.PrimaryKeyConstraint("approval_id", name="pk_approvals"),
    )
    op.create_index("ix_approvals_decision_seq", "approvals", ["decision_seq"])
    op.create_index("ix_approvals_status", "approvals", ["status", "created_at"])
    op.create_index("ix_approvals_turn_id", "approvals", ["turn_id"])
    op.create_table(
        "approval_tokens",
        _text("token"),
        _text("approval_id"),
        _text("decision"),
        sa.ForeignKeyConstraint(
            ["approval_id"],
            ["approvals.approval_id"],
            name="fk_approval_tokens_approval_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("token", name="pk_approval_tokens"),
    )
    op.create_index("ix_approval_tokens_approval_id", "approval_tokens", ["approval_id"])
    op.create_table(
        "approval_copies",
        sa.Column("id", _BIG, nullable=False),
        _text("approval_id"),
        _text("channel"),
        _text("account"),
        _text("chat_id"),
        _text("thread_id"),
        _text("message_id"),
        sa.ForeignKeyConstraint(
            ["approval_id"],
            ["approvals.approval_id"],
            name="fk_approval_copies_approval_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_approval_copies"),
        sa.UniqueConstraint(
            "approval_id",
            "channel",
            "account",
            "chat_id",
            "thread_id",
            "message_id",
            name="uq_approval_copies_approval_id",
        ),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "approval_votes",
        sa.Column("id", _BIG, nullable=False),
        _text("approval_id"),
        _text("person"),
        _text("voter"),
        _text("voter_name", default=""),
        _text("digest"),
        _time("at"),
        sa.ForeignKeyConstraint(
            ["approval_id"],
            ["approvals.approval_id"],
            name="fk_approval_votes_approval_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_approval_votes"),
        sa.UniqueConstraint("approval_id", "person", name="uq_approval_votes_approval_id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "counters",
        _text("name"),
        sa.Column("value", _BIG, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_counters"),
    )
    op.create_table(
        "grants",
        _text("grant_id"),
        _text("owner"),
        _text("digest"),
        _text("tool"),
        _text("summary"),
        _text("scope"),
        _text("session_key"),
        _time("created_at"),
        _text("created_by"),
        _time("expires_at", nullable=True),
        sa.Column("uses", sa.Integer(), server_default="0", nullable=False),
        _time("last_used_at", nullable=True),
        sa.PrimaryKeyConstraint("grant_id", name="pk_grants"),
    )
    op.create_index("ix_grants_owner", "grants", ["owner", "digest"])
    op.create_index("ix_grants_session_key", "grants", ["session_key"])


def _outbox_and_audit() -> None:
    op.create_table(
        "outbox",
        sa.Column("row_id", _BIG, nullable=False),
        _text("source"),
        sa.Column("part", sa.Integer(), nullable=False),
        _text("channel"),
        _text("account"),
        _text("chat_id"),
        _text("thread_id"),
        _text("body_json"),
        _time("created_at"),
        _text("state"),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        _time("next_try_at", nullable=True),
        _text("message_id", default=""),
        _text("error", default=""),
        sa.PrimaryKeyConstraint("row_id", name="pk_outbox"),
        sa.UniqueConstraint("source", "part", name="uq_outbox_source"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_outbox_state", "outbox", ["state", "channel", "account", "chat_id", "thread_id", "row_id"]
    )
    op.create_table(
        "audit",
        sa.Column("id", _BIG, nullable=False),
        _text("writer"),
        sa.Column("seq", _BIG, nullable=False),
        _time("at"),
        _text("kind"),
        _text("body_json"),
        _text("prev"),
        _text("mac"),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
        sa.UniqueConstraint("writer", "seq", name="uq_audit_writer"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_at", "audit", ["at"])
    op.create_table(
        "audit_heads",
        _text("writer"),
        sa.Column("seq", _BIG, nullable=False),
        _text("mac"),
        _time("at"),
        sa.PrimaryKeyConstraint("writer", name="pk_audit_heads"),
    )


def _secrets_and_people() -> None:
    op.create_table(
        "sealed",
        _text("owner"),
        _text("field"),
        _text("key_id"),
        sa.Column("nonce", sa.LargeBinary(), nullable=False),
        sa.Column("ciphertext", sa.LargeBinary(), nullable=False),
        _time("updated_at"),
        sa.PrimaryKeyConstraint("owner", "field", name="pk_sealed"),
    )
    op.create_table(
        "pairing_codes",
        _text("code_hash"),
        _text("roles_json"),
        _time("expires_at"),
        sa.PrimaryKeyConstraint("code_hash", name="pk_pairing_codes"),
    )
    op.create_table(
        "pairing_misses",
        sa.Column("id", _BIG, nullable=False),
        _text("identity"),
        _time("at"),
        sa.PrimaryKeyConstraint("id", name="pk_pairing_misses"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_pairing_misses_identity", "pairing_misses", ["identity", "at"])
    op.create_table(
        "paired_senders",
        _text("identity"),
        _text("roles_json"),
        _time("paired_at"),
        sa.PrimaryKeyConstraint("identity", name="pk_paired_senders"),
    )
    op.create_table(
        "login_links",
        _text("link_hash"),
        _text("identity"),
        _time("expires_at"),
        sa.PrimaryKeyConstraint("link_hash", name="pk_login_links"),
    )
    op.create_table(
        "login_cookies",
        _text("cookie_hash"),
        _text("identity"),
        _time("expires_at"),
        sa.PrimaryKeyConstraint("cookie_hash", name="pk_login_cookies"),
    )


def _values_and_signals() -> None:
    op.create_table(
        "kept_values",
        _text("scope"),
        _text("key"),
        _text("value"),
        sa.PrimaryKeyConstraint("scope", "key", name="pk_kept_values"),
    )
    op.create_table(
        "signals",
        sa.Column("id", _BIG, nullable=False),
        _text("topic"),
        _text("payload"),
        _text("sender"),
        _time("at"),
        sa.PrimaryKeyConstraint("id", name="pk_signals"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_signals_at", "signals", ["at"])
    op.create_table(
        "leases",
        _text("name"),
        _text("holder"),
        sa.Column("token", _BIG, nullable=False),
        _time("expires_at"),
        sa.PrimaryKeyConstraint("name", name="pk_leases"),
    )
