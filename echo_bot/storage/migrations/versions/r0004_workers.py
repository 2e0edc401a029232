"""Workers and what they are for."""

from __future__ import annotations

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """No tables yet."""
