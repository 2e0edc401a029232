"""`echo-bot doctor` and `status` on MCP servers: what keeps them from starting, what the running bot says."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from echo_bot.bus.process import ProcessId
from echo_bot.bus.sqlite import SqliteBus
from echo_bot.storage.peek import RUNTIME
from echo_bot.storage.store import SqlStore
from echo_bot.testing.command_line import CommandLine

Examine = Callable[[dict[str, dict[str, object]]], list[tuple[str, str, str]]]


@pytest.fixture
def examine(command_line: CommandLine) -> Examine:
    def found(servers: dict[str, dict[str, object]]) -> list[tuple[str, str, str]]:
        command_line.environ["ECHO_BOT_TOOLS__MCP_SERVERS"] = json.dumps(servers)
        told = json.loads(command_line("doctor", "--json").out)["findings"]
        return [(each["severity"], each["what"], each["fix"]) for each in told if each["area"] == "mcp"]

    return found


def running(command_line: CommandLine, *servers: dict[str, object]) -> None:
    async def leave(store: SqlStore) -> None:
        me = ProcessId.current()
        facts = {"process": str(me), "pid": me.pid, "config": "", "config_digest": ""}
        await store.values.put(RUNTIME, "health", json.dumps(facts | {"mcp_servers": list(servers)}))
        bus = SqliteBus(store.path, lambda: datetime.now(UTC))
        await bus.open()
        await bus.lease("bot", str(me), 15)
        await bus.close()

    command_line.with_store(leave)


def test_without_servers_nothing_is_said(examine: Examine) -> None:
    assert examine({}) == []


def test_what_is_not_running_is_looked_for(examine: Examine) -> None:
    servers: dict[str, dict[str, object]] = {
        "good": {"command": "sh"},
        "gone": {"command": "no-such-program-here"},
        "off": {"command": "sh", "enabled": False},
        "far": {"url": "https://example.com/mcp"},
    }
    assert examine(servers) == [
        ("note", "good would be started", ""),
        ("weak", "gone: its program no-such-program-here is not there", "tools.mcp_servers.gone.command"),
        ("note", "off is not started: tools.mcp_servers.off.enabled is false", ""),
        ("note", "far would be started", ""),
    ]


def test_the_missing_package_is_named_with_what_brings_it(
    examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("echo_bot.app.mcp.find_spec", lambda name: None)
    ((severity, what, fix),) = examine({"good": {"command": "sh"}})
    assert (severity, what) == ("weak", "the package mcp is missing")
    assert "pip install 'echo-bot[mcp]'" in fix


def test_a_running_bot_is_believed(examine: Examine, command_line: CommandLine) -> None:
    failed = "failed, next try 12:00:00 UTC – its process ended with exit code 7"
    withheld = "ready with 1 tool; mcp_odd_x is withheld: …"
    running(
        command_line,
        {"name": "bad", "state": "failed", "line": failed, "notes": []},
        {"name": "fine", "state": "ready", "line": "ready with 3 tools", "notes": []},
        {"name": "odd", "state": "ready", "line": withheld, "notes": ["mcp_odd_x is withheld: …"]},
    )
    assert examine({name: {"command": "sh"} for name in ("bad", "fine", "odd")}) == [
        ("weak", f"bad: {failed}", ""),
        ("ok", "fine: ready with 3 tools", ""),
        ("weak", f"odd: {withheld}", "`echo-bot mcp list odd --full`"),
    ]
    assert f"MCP server bad: {failed}" in command_line("status").out.splitlines()
    told = json.loads(command_line("status", "--json").out)["mcp_servers"]
    assert [each["name"] for each in told] == ["bad", "fine", "odd"]
