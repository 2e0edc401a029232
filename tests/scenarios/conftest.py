"""What the scenarios share: settings under which commands run here and ask, and predicates on messages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest
import structlog

from echo_bot.approval import broker
from echo_bot.events import CardState
from echo_bot.testing.bot import RunningBot
from echo_bot.testing.clock import MovedClock
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


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> MovedClock:
    """For a bot that soon sees how late it is."""
    monkeypatch.setattr(broker, "_MAX_WAIT_STEP_SECONDS", 0.02)
    return MovedClock()


@pytest.fixture
def expire(clock: MovedClock) -> Callable[[RunningBot], Awaitable[None]]:
    """Lets the time of every open card run out, once it runs. The bot goes by `clock`."""

    async def run_out(bot: RunningBot) -> None:
        while not (
            ends := [record.deadline for record in await bot.store.approvals.pending() if record.deadline]
        ):
            await asyncio.sleep(0.01)
        clock.move_to(max(ends))

    return run_out
