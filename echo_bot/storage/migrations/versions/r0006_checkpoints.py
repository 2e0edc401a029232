"""Files as they were before a write, and turns that were run again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "checkpoints",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_key", sa.Text(), nullable=False),
        sa.Column("turn_id", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("before", sa.Text(), nullable=False),
        sa.Column("after", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("mode", sa.Integer(), nullable=False),
        sa.Column("made_folders", sa.Text(), server_default="[]", nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_checkpoints"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_checkpoints_session_key", "checkpoints", ["session_key", "id"])
    op.create_index("ix_checkpoints_turn_id", "checkpoints", ["turn_id"])
    op.create_table(
        "retried_turns",
        sa.Column("turn_id", sa.Text(), nullable=False),
        sa.Column("by_turn", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("turn_id", name="pk_retried_turns"),
    )
