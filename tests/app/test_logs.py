from __future__ import annotations

import io
import logging

import pytest

from echo_bot.app.logs import configure_logs


@pytest.mark.parametrize("name", ["httpx", "httpx2", "httpcore", "telegram"])
@pytest.mark.usefixtures("own_logs")
def test_a_library_that_logs_addresses_is_kept_quiet(name: str) -> None:
    stream = io.StringIO()
    configure_logs("INFO", "json", lambda text: text, stream)
    logging.getLogger(name).info("GET https://api.example/bot123:token/getMe")
    logging.getLogger(name).warning("slow")
    assert "token" not in stream.getvalue()
    assert "slow" in stream.getvalue()
