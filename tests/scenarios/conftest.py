"""What the scenarios share: settings under which commands run here and ask, and predicates on messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import structlog

from echo_bot.events import CardState
from echo_bot.testing.fake_channel import FakeMessage


@pytest.fixture(autouse=True)
def plain_logs() -> Iterator[None]:
    """As the product logs: one line each, instead of tracebacks drawn with every local variable."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ]
    )
    yield
    structlog.reset_defaults()


@pytest.fixture
def local() -> dict[str, object]:
    """Commands run on this host, sender 1 on telegram is an admin, and a person is asked."""
    return {"tools.exec.host": "local", "permissions.admin_users": ["telegram:1"]}


@pytest.fixture
def is_open() -> Callable[[FakeMessage], bool]:
    return lambda message: message.card is not None and message.card.state is CardState.OPEN


@pytest.fixture
def is_closed() -> Callable[[FakeMessage], bool]:
    return lambda message: message.card is not None and message.card.state is not CardState.OPEN


@pytest.fixture
def says() -> Callable[[str], Callable[[FakeMessage], bool]]:
    return lambda text: lambda message: message.text is not None and text in message.text.text
