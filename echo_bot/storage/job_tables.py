"""The table of scheduled jobs."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, Table, Text, UniqueConstraint, false

from echo_bot.storage.columns import ADDRESS, UtcTime, text_column
from echo_bot.storage.tables import metadata

jobs = Table(
    "jobs",
    metadata,
    Column("job_id", Text, primary_key=True),
    text_column("kind"),
    text_column("name"),
    text_column("owner"),
    *(text_column(f"origin_{name}") for name in ADDRESS),
    text_column("memory_scope"),
    text_column("schedule"),
    text_column("zone"),
    Column("set_at", UtcTime, nullable=False),
    text_column("instruction"),
    *(text_column(f"target_{name}") for name in ADDRESS),
    text_column("authority_digest", default=""),
    text_column("authority_by", default=""),
    Column("authority_at", UtcTime),
    text_column("authority_approval", default=""),
    text_column("authority_files", default="[]"),
    text_column("state"),
    text_column("note", default=""),
    Column("next_at", UtcTime),
    Column("asked_at", UtcTime),
    text_column("last_event", default=""),
    Column("last_due", UtcTime),
    text_column("last_state", default=""),
    text_column("last_error", default=""),
    Column("last_ended_at", UtcTime),
    text_column("last_note", default=""),
    Column("failures", Integer, nullable=False, server_default="0"),
    Column("told", Boolean, nullable=False, server_default=false()),
    Column("revision", Integer, nullable=False, server_default="0"),
    Column("created_at", UtcTime, nullable=False),
    UniqueConstraint("owner", "name"),
    Index(None, "state", "next_at"),
)
