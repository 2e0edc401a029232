"""Pinned definitions of MCP tools."""

from __future__ import annotations

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """No tables yet."""
