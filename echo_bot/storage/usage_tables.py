"""The tables of what models used and of what older turns were shortened to."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Index, Table, Text

from echo_bot.storage.columns import UtcTime, text_column
from echo_bot.storage.tables import metadata

usage = Table(
    "usage",
    metadata,
    Column("source", Text, primary_key=True),
    Column("at", UtcTime, nullable=False),
    text_column("day"),
    text_column("model"),
    text_column("kind"),
    text_column("session_key"),
    text_column("turn_id"),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cached_tokens", BigInteger, nullable=False),
    Column("cost_nanos", BigInteger),
    Column("seconds", Float, server_default="0", nullable=False),
    Index(None, "day"),
    Index(None, "session_key"),
    Index(None, "turn_id"),
)

summaries = Table(
    "summaries",
    metadata,
    Column("session_key", Text, primary_key=True),
    text_column("through_turn"),
    Column("through_at", UtcTime, nullable=False),
    text_column("text"),
)
