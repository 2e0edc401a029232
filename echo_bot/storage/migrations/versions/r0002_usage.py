"""What the models used and cost, and what older turns were shortened to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "usage",
        _text("source"),
        sa.Column("at", sa.BigInteger(), nullable=False),
        *(_text(name) for name in ("day", "model", "kind", "session_key", "turn_id")),
        *(
            sa.Column(name, sa.BigInteger(), nullable=False)
            for name in ("input_tokens", "output_tokens", "cached_tokens")
        ),
        sa.Column("cost_nanos", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("source", name="pk_usage"),
    )
    op.create_index("ix_usage_day", "usage", ["day"])
    op.create_index("ix_usage_session_key", "usage", ["session_key"])
    op.create_index("ix_usage_turn_id", "usage", ["turn_id"])
    op.create_table(
        "summaries",
        _text("session_key"),
        _text("through_turn"),
        sa.Column("through_at", sa.BigInteger(), nullable=False),
        _text("text"),
        sa.PrimaryKeyConstraint("session_key", name="pk_summaries"),
    )


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)
