"""What the models used and cost."""

from __future__ import annotations

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """No tables yet."""
