"""Tasks and workflows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def _text(name: str, *, default: str | None = None) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default=default, nullable=False)


def _time(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=nullable)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), server_default="0", nullable=False)


def upgrade() -> None:
    op.create_table(
        "workflows",
        _text("workflow_id"),
        _text("owner"),
        _text("name"),
        _text("steps_json"),
        _text("state"),
        _time("created_at"),
        _time("changed_at"),
        _text("session_key", default=""),
        _text("turn_id", default=""),
        _text("event_json", default=""),
        _count("leg"),
        _time("resume_at", nullable=True),
        sa.PrimaryKeyConstraint("workflow_id", name="pk_workflows"),
        sa.UniqueConstraint("owner", "name", name="uq_workflows_owner"),
    )
    op.create_index("ix_workflows_state", "workflows", ["state", "resume_at"])
    op.create_table(
        "workflow_steps",
        _text("workflow_id"),
        _text("step_id"),
        _text("state"),
        _count("attempt"),
        _count("leg"),
        _text("output", default=""),
        _text("error", default=""),
        _time("try_at", nullable=True),
        sa.PrimaryKeyConstraint("workflow_id", "step_id", name="pk_workflow_steps"),
        sa.ForeignKeyConstraint(
            ["workflow_id"],
            ["workflows.workflow_id"],
            name="fk_workflow_steps_workflow_id",
            ondelete="CASCADE",
        ),
    )
    op.create_table(
        "tasks",
        _text("task_id"),
        _text("owner"),
        _text("title"),
        _text("state"),
        _time("created_at"),
        _time("changed_at"),
        _text("notes", default=""),
        _text("instruction", default=""),
        _text("result", default=""),
        _time("start_at", nullable=True),
        _text("event_json", default=""),
        _text("turn_id", default=""),
        _count("starts"),
        sa.PrimaryKeyConstraint("task_id", name="pk_tasks"),
    )
    op.create_index("ix_tasks_owner", "tasks", ["owner", "created_at"])
    op.create_index("ix_tasks_state", "tasks", ["state", "start_at"])


def downgrade() -> None:
    op.drop_table("tasks")
    op.drop_table("workflow_steps")
    op.drop_table("workflows")
