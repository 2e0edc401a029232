"""Usage counts the seconds of recordings that were transcribed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("usage", sa.Column("seconds", sa.Float(), server_default="0", nullable=False))


def downgrade() -> None:
    op.drop_column("usage", "seconds")
