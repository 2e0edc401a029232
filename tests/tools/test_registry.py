"""The registry: tools of servers come and go, and nobody else takes their names."""

from __future__ import annotations

from typing import Any

import pytest

from echo_bot.errors import StartError
from echo_bot.policy.settings import ToolSettings
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.registry import Availability, Registry


def named(tool_name: str) -> Tool:
    class Named(Tool):
        name = tool_name

        async def execute(
            self, params: dict[str, Any], ctx: ToolExecutionContext | None = None
        ) -> ToolResult:
            return ToolResult(True)

    return Named()


def test_what_a_server_offers_takes_the_place_of_what_it_offered() -> None:
    registry = Registry([])
    registry.serve("git", [named("mcp_git_log"), named("mcp_git_add")])
    registry.serve("hub", [named("mcp_hub_log")])
    registry.serve("git", [named("mcp_git_log")])
    assert [tool.name for tool in registry] == ["mcp_git_log", "mcp_hub_log"]
    assert registry.get("mcp_git_add") is None
    assert registry.state_of("mcp_hub_log", ToolSettings()).state is Availability.AVAILABLE
    registry.serve("hub", [])
    assert [tool.name for tool in registry.offered(ToolSettings())] == ["mcp_git_log"]


def test_a_server_takes_no_other_name() -> None:
    registry = Registry([])
    registry.add(named("own"), "here")
    registry.serve("git", [named("exec"), named("own"), named("agents_list"), named("mcp_git_log")])
    assert [tool.name for tool in registry] == ["own", "mcp_git_log"]


def test_a_tool_of_one_s_own_cannot_pass_for_one_of_a_server() -> None:
    with pytest.raises(StartError, match="mcp_… is for MCP servers' tools"):
        Registry([]).add(named("mcp_git_log"), "here")
