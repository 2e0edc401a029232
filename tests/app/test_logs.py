from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import pytest
import structlog

from echo_bot.app.logs import configure_logs


@pytest.fixture(autouse=True)
def own_logs() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.mark.parametrize("name", ["httpx", "httpx2", "httpcore", "telegram"])
def test_a_library_that_logs_addresses_is_kept_quiet(name: str) -> None:
    stream = io.StringIO()
    configure_logs("INFO", "json", lambda text: text, stream)
    logging.getLogger(name).info("GET https://api.example/bot123:token/getMe")
    logging.getLogger(name).warning("slow")
    assert "token" not in stream.getvalue()
    assert "slow" in stream.getvalue()
