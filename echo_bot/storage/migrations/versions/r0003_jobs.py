"""Scheduled jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_ADDRESS = ("channel", "account", "chat_id", "thread_id")


def upgrade() -> None:
    op.create_table(
        "jobs",
        _text("job_id"),
        _text("kind"),
        _text("name"),
        _text("owner"),
        *(_text(f"origin_{name}") for name in _ADDRESS),
        _text("memory_scope"),
        _text("schedule"),
        _text("zone"),
        _time("set_at"),
        _text("instruction"),
        *(_text(f"target_{name}") for name in _ADDRESS),
        _text("authority_digest", default=""),
        _text("authority_by", default=""),
        _time("authority_at", nullable=True),
        _text("authority_approval", default=""),
        _text("authority_files", default="[]"),
        _text("state"),
        _text("note", default=""),
        _time("next_at", nullable=True),
        _time("asked_at", nullable=True),
        _text("last_event", default=""),
        _time("last_due", nullable=True),
        _text("last_state", default=""),
        _text("last_error", default=""),
        _time("last_ended_at", nullable=True),
        _text("last_note", default=""),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("told", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("revision", sa.Integer(), server_default="0", nullable=False),
        _time("created_at"),
        sa.PrimaryKeyConstraint("job_id", name="pk_jobs"),
        sa.UniqueConstraint("owner", "name", name="uq_jobs_owner"),
    )
    op.create_index("ix_jobs_state", "jobs", ["state", "next_at"])


def _text(name: str, *, default: str | None = None) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default=default, nullable=False)


def _time(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=nullable)
