"""The tables of workflows and tasks."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, PrimaryKeyConstraint, Table, Text, UniqueConstraint

from echo_bot.storage.columns import UtcTime, text_column
from echo_bot.storage.tables import metadata

workflows = Table(
    "workflows",
    metadata,
    Column("workflow_id", Text, primary_key=True),
    text_column("owner"),
    text_column("name"),
    text_column("steps_json"),
    text_column("state"),
    Column("created_at", UtcTime, nullable=False),
    Column("changed_at", UtcTime, nullable=False),
    text_column("session_key", default=""),
    text_column("turn_id", default=""),
    text_column("event_json", default=""),
    Column("leg", Integer, nullable=False, server_default="0"),
    Column("resume_at", UtcTime, nullable=True),
    UniqueConstraint("owner", "name"),
    Index(None, "state", "resume_at"),
)

workflow_steps = Table(
    "workflow_steps",
    metadata,
    Column("workflow_id", Text, ForeignKey("workflows.workflow_id", ondelete="CASCADE"), nullable=False),
    text_column("step_id"),
    text_column("state"),
    Column("attempt", Integer, nullable=False, server_default="0"),
    Column("leg", Integer, nullable=False, server_default="0"),
    text_column("output", default=""),
    text_column("error", default=""),
    Column("try_at", UtcTime, nullable=True),
    PrimaryKeyConstraint("workflow_id", "step_id"),
)

tasks = Table(
    "tasks",
    metadata,
    Column("task_id", Text, primary_key=True),
    text_column("owner"),
    text_column("title"),
    text_column("state"),
    Column("created_at", UtcTime, nullable=False),
    Column("changed_at", UtcTime, nullable=False),
    text_column("notes", default=""),
    text_column("instruction", default=""),
    text_column("result", default=""),
    Column("start_at", UtcTime, nullable=True),
    text_column("event_json", default=""),
    text_column("turn_id", default=""),
    Column("starts", Integer, nullable=False, server_default="0"),
    Index(None, "owner", "created_at"),
    Index(None, "state", "start_at"),
)
