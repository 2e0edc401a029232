"""Logs: one event name and fields, secrets masked at the last step before a line is written."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from echo_bot.text import encodable

_QUIET = (
    "httpx",
    "httpx2",
    "httpcore",
    "telegram",
    "uvicorn",
    "websockets",
    "aiosqlite",
    "asyncio",
    "alembic",
    "mcp",
    "client",
)
"""Libraries that log addresses (with tokens in them) or every request: warnings only."""


def configure_logs(
    level: str,
    log_format: Literal["auto", "console", "json"],
    mask: Callable[[str], str],
    stream: TextIO,
) -> None:
    """Everything that logs, ours and the libraries', goes through one masking writer to `stream`."""
    as_json = log_format == "json" or (log_format == "auto" and not stream.isatty())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.ExtraAdder(),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
    ]
    renderer: Processor = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(colors=stream.isatty())
    )

    def masked(_: WrappedLogger, __: str, event: EventDict) -> str:
        line = renderer(_, __, event)
        return mask(encodable(line if isinstance(line, str) else str(line)))

    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, masked],
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
