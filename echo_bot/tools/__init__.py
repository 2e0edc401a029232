"""Tools: the public contract. Built-in tools live in `builtin`, one family a file."""

from echo_bot.policy.risk import RiskLevel
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult

__all__ = ["RiskLevel", "Tool", "ToolExecutionContext", "ToolResult"]
