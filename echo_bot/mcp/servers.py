"""All servers of the configuration: started and stopped together, their tools in the registry."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from echo_bot.mcp.offered import Offered
from echo_bot.mcp.server import Around, McpServer, ServerStatus
from echo_bot.mcp.spec import ServerSpec
from echo_bot.mcp.tool import mcp_tool
from echo_bot.policy.definitions import DefinitionSight
from echo_bot.tools.builtin.workspace import Workspace
from echo_bot.tools.registry import Registry


class McpServers:
    """`idle` are those that are not started, each with the reason."""

    def __init__(
        self,
        specs: Sequence[ServerSpec],
        idle: Mapping[str, str],
        around: Around,
        registry: Registry,
        workspace: Workspace,
    ) -> None:
        self._registry, self._workspace, self._idle = registry, workspace, idle
        self._around = replace(around, publish=self._publish)
        self._servers = [McpServer(spec, self._around) for spec in specs]

    async def start(self) -> None:
        """Returns at once: a server that is slow or dead delays nothing. Raises StorageError."""
        if not self._servers:
            return
        records = await self._around.definitions.list()
        for server in self._servers:
            if reason := self._idle.get(server.name):
                server.not_started(reason)
            else:
                await server.start(records)

    async def stop(self) -> None:
        """All at once, each within its time."""
        await asyncio.gather(*(server.stop() for server in self._servers))

    async def read_pins(self) -> None:
        """Pins were changed by another process."""
        for server in self._servers:
            await server.read_pins()

    def status(self) -> tuple[ServerStatus, ...]:
        return tuple(server.status for server in self._servers)

    def sight(self, tool: str) -> DefinitionSight:
        """For the gate: how the definition of a tool stands now."""
        for server in self._servers:
            if (offered := server.offered.get(tool)) is not None:
                return sight_of(offered)
        return DefinitionSight()

    def _publish(self, server: McpServer) -> None:
        tools = [
            mcp_tool(
                name,
                server,
                offered.definition,
                offered.standing,
                self._workspace,
                risk=server.spec.risk,
                timeout_seconds=server.spec.timeout_seconds,
            )
            for name, offered in server.offered.items()
        ]
        self._registry.serve(server.name, tools)


def sight_of(offered: Offered) -> DefinitionSight:
    standing = offered.standing
    return DefinitionSight(offered.definition.digest, standing.withheld, standing.changed)
