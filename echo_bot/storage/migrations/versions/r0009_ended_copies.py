"""Cards whose end is shown are told from those that still wait for it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_COPIES = sa.table("approval_copies", sa.column("approval_id"), sa.column("ended"))
_APPROVALS = sa.table("approvals", sa.column("approval_id"), sa.column("status"))


def upgrade() -> None:
    """Of those that were closed before, nobody knows; they are let be."""
    op.add_column(
        "approval_copies", sa.Column("ended", sa.Boolean(), server_default=sa.false(), nullable=False)
    )
    is_open = sa.select(_APPROVALS.c.approval_id).where(_APPROVALS.c.status == "pending")
    op.execute(sa.update(_COPIES).where(_COPIES.c.approval_id.not_in(is_open)).values(ended=sa.true()))


def downgrade() -> None:
    op.drop_column("approval_copies", "ended")
