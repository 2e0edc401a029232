"""Turns that other turns start: their kind, their parent, what they came to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    for name, default in (("kind", "message"), ("parent", ""), ("result", "")):
        op.add_column("turns", sa.Column(name, sa.Text(), server_default=default, nullable=False))
    op.create_index("ix_turns_parent", "turns", ["parent", "state"])
