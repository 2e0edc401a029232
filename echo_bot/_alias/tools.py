"""The public tool contract under the name that the source documents use: `echo_agent.tools`."""

from echo_bot.tools import RiskLevel, Tool, ToolExecutionContext, ToolResult

__all__ = ["RiskLevel", "Tool", "ToolExecutionContext", "ToolResult"]
