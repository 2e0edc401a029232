"""alembic's entry: run the revisions on the connection that was handed over."""

from __future__ import annotations

from alembic import context

from echo_bot.storage.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=False,
    render_as_batch=True,
)
context.run_migrations()
