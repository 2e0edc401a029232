"""A server's tool as one of ours: declared by its definition, run over the connection, its files kept."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

from echo_bot.files import FileRefusal
from echo_bot.mcp.content import Content, SentFile, content_of
from echo_bot.mcp.definition import Definition
from echo_bot.mcp.failing import McpEnded, McpFailed
from echo_bot.mcp.standing import Standing
from echo_bot.policy.capabilities import MCP_CALL
from echo_bot.policy.risk import RiskLevel
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.builtin.workspace import Workspace

FOLDER = "generated"


class Caller(Protocol):
    """The tool's server; see `echo_bot.mcp.server`."""

    @property
    def name(self) -> str: ...

    def problem(self) -> str:
        """Why it cannot be called at all now, "" while it can or soon will."""
        ...

    def is_current(self, definition: Definition) -> bool: ...

    async def approve(self, definition: Definition, ctx: ToolExecutionContext) -> None:
        """A person approved a call of exactly this definition."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Raises McpFailed."""
        ...


class McpTool(Tool):
    """Made by `mcp_tool`, which gives each its own name, description and parameters. Never retried."""

    def __init__(
        self, server: Caller, definition: Definition, standing: Standing, workspace: Workspace
    ) -> None:
        self._server, self.definition, self.standing = server, definition, standing
        self._workspace = workspace

    def readiness_detail(self) -> tuple[bool, str]:
        why = self.standing.withheld or self._server.problem()
        return (False, why) if why else (True, "ready")

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        if not self._server.is_current(self.definition):
            error = f"{self.name} was not called: its definition changed just now; call it again"
            return ToolResult(False, error=error, error_kind="business")
        if ctx is not None and ctx.approval_source == "human" and self.standing.changed:
            await self._server.approve(self.definition, ctx)
        try:
            content = content_of(await self._server.call(self.definition.name, params))
        except McpEnded as error:
            unknown = "Whether it did what was asked is not known; it was not asked again."
            return self._failed(f"{error} during the call. {unknown}")
        except McpFailed as error:
            return self._failed(f"{error}.")
        return await self._result(content, ctx)

    def _failed(self, why: str) -> ToolResult:
        error = f"The MCP server {self._server.name}: {why}"
        return ToolResult(False, error=error, error_kind="dependency")

    async def _result(self, content: Content, ctx: ToolExecutionContext | None) -> ToolResult:
        kept = await asyncio.to_thread(self._keep, content.files, ctx)
        text = "\n".join(filter(None, (content.text, *kept)))
        if content.is_error:
            error = f"{self.name} failed"
            return ToolResult(False, output=text, error=error, error_kind="business")
        return ToolResult(True, output=text or "(done; the server said nothing)")

    def _keep(self, files: tuple[SentFile, ...], ctx: ToolExecutionContext | None) -> list[str]:
        """Each file in the workspace under a name of the call's own, and a line that says where."""
        if ctx is None:
            return []
        door, root = self._workspace.door(ctx), self._workspace.root
        lines = []
        for number, file in enumerate(files, 1):
            path = f"{FOLDER}/mcp-{ctx.idempotency_key[:16]}-{number}{file.extension}"
            written = door.write_bytes(path, root, file.data)
            size = f"{file.kind[:60]}, {len(file.data):,} bytes"
            if isinstance(written, FileRefusal):
                lines.append(f"(a file, {size}, was not kept: {written.sentence})")
            else:
                lines.append(f"{path} ({size})")
        return lines


def mcp_tool(
    name: str,
    server: Caller,
    definition: Definition,
    standing: Standing,
    workspace: Workspace,
    *,
    risk: str,
    timeout_seconds: int,
) -> McpTool:
    """The tool called `name`. Only the operator says less of its risk than exec, never the server."""
    declared = {
        "name": name,
        "description": definition.shown_description,
        "parameters": standing.schema,
        "timeout_seconds": timeout_seconds,
        "capabilities": (MCP_CALL,),
        "risk_level": risk or RiskLevel.EXEC.value,
    }
    kind: type[McpTool] = type("McpTool", (McpTool,), declared)
    return kind(server, definition, standing, workspace)
