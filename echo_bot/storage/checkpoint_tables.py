"""The tables of files as they were before a write, and of turns that were run again."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, Table, Text

from echo_bot.storage.columns import RowId, UtcTime, text_column
from echo_bot.storage.tables import metadata

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("id", RowId, primary_key=True),
    text_column("session_key"),
    text_column("turn_id"),
    text_column("path"),
    text_column("before"),
    text_column("after"),
    Column("size", RowId, nullable=False),
    Column("mode", Integer, nullable=False),
    text_column("made_folders", default="[]"),
    Column("at", UtcTime, nullable=False),
    Index(None, "session_key", "id"),
    Index(None, "turn_id"),
    sqlite_autoincrement=True,
)

retried_turns = Table(
    "retried_turns",
    metadata,
    Column("turn_id", Text, primary_key=True),
    text_column("by_turn"),
)
