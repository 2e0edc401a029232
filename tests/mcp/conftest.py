"""One McpServer on a scripted server, with a store of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import structlog

from echo_bot.mcp.server import Around, McpServer
from echo_bot.mcp.spec import ServerSpec, Timing
from echo_bot.storage.store import open_store, sqlite_url
from tests.mcp.rig import QUICK, Notes, Rig, Script, load

Running = Callable[..., Any]


@pytest.fixture(autouse=True)
def plain_logs() -> Iterator[None]:
    """One line each, instead of tracebacks drawn with every local variable."""
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
def script(tmp_path: Path) -> Script:
    return Script(tmp_path / "server")


@pytest.fixture
def running(tmp_path: Path, script: Script) -> Running:
    """`async with running(…) as rig`: the server started. Keywords are of its spec; `timing` too."""

    @asynccontextmanager
    async def run(timing: Timing = QUICK, **keys: Any) -> AsyncIterator[Rig]:
        command, args = script.command
        spec = replace(ServerSpec("git", command=command, args=args), **keys)
        store = await open_store(sqlite_url(tmp_path / "state" / "echo-bot.db"))
        rig: Rig

        def publish(server: McpServer) -> None:
            rig.published += 1

        audit = Notes()
        around = Around(
            store.mcp,
            audit,
            partial(load, tmp_path / "mcp"),
            publish,
            mask=lambda text: text.replace("hunter2-hunter2", "▒▒▒"),
            clock=lambda: datetime.now(UTC),
            timing=timing,
        )
        rig = Rig(McpServer(spec, around), store.mcp, audit)
        await rig.server.start(await store.mcp.list())
        try:
            yield rig
        finally:
            await rig.server.stop()
            await store.close()

    return run
