"""What the tests of MCP share: a scripted server in a folder, and one of ours that talks to it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from echo_bot.mcp.server import Connect, McpServer, ServerState
from echo_bot.mcp.spec import Timing
from echo_bot.net import GuardedTransport, guarded_transport
from echo_bot.policy.guards.network import NetworkRules
from echo_bot.storage.mcp_records import McpDefinitions

SCRIPTED = Path(__file__).parent / "servers" / "scripted.py"
PATIENCE = 60.0
QUICK = Timing(first_pause=0.05, look_again=30.0, calm=0.0)


def tool(name: str, description: str = "Does a thing.", **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": description, "inputSchema": schema}


@dataclass
class Script:
    """The scripted server's folder: what it is to do, and what it did."""

    folder: Path

    def write(self, *tools: dict[str, Any], start: str = "") -> None:
        self.folder.mkdir(exist_ok=True)
        text = json.dumps({"tools": list(tools), "start": start})
        (self.folder / "new").write_text(text)
        (self.folder / "new").rename(self.folder / "script.json")

    @property
    def log(self) -> list[dict[str, Any]]:
        path = self.folder / "log.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def count(self, what: str) -> int:
        return sum(entry["what"] == what for entry in self.log)

    async def wait_for(self, what: str, times: int = 1) -> None:
        await eventually(lambda: self.count(what) >= times)

    @property
    def command(self) -> tuple[str, tuple[str, ...]]:
        return sys.executable, ("-u", str(SCRIPTED), str(self.folder))


async def eventually(holds: Callable[[], bool]) -> None:
    """Other processes do not tell when they are done."""
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.02)


@dataclass
class Notes:
    rows: list[dict[str, object]] = field(default_factory=list)

    async def record(self, kind: str, **fields: object) -> None:
        self.rows.append({"kind": kind, **fields})


@dataclass
class Rig:
    """A server under test. `published` counts how often its tools were told to be others."""

    server: McpServer
    definitions: McpDefinitions
    audit: Notes
    published: int = 0

    async def until(self, state: ServerState) -> None:
        await eventually(lambda: self.server.status.state is state)


def load(folder: Path) -> Connect:
    from echo_bot.mcp.connection import connected

    def guarded(endpoint: str) -> GuardedTransport:
        return guarded_transport(NetworkRules("allow"), endpoints=[endpoint])

    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}
    return partial(
        connected,
        environment=environment,
        folder=folder,
        guarded=guarded,
        mask=lambda text: text.replace("hunter2-hunter2", "▒▒▒"),
    )
