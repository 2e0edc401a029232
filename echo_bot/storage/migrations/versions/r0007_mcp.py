"""Pinned definitions of MCP tools."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def _text(name: str, *, default: str | None = None) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default=default, nullable=False)


def upgrade() -> None:
    op.create_table(
        "mcp_definitions",
        _text("server"),
        _text("tool"),
        _text("seen_digest"),
        _text("seen"),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        _text("pinned_digest", default=""),
        _text("pinned", default=""),
        _text("pinned_by", default=""),
        sa.Column("pinned_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("server", "tool", name="pk_mcp_definitions"),
    )


def downgrade() -> None:
    op.drop_table("mcp_definitions")
