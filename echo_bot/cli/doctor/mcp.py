"""The MCP servers of the configuration: can they be started, and how are those of a running bot?"""

from __future__ import annotations

from collections.abc import Iterator

from echo_bot.app.mcp import has_sdk, idle_reason, missing_program, server_specs
from echo_bot.called import command, install_extra
from echo_bot.cli.doctor.finding import Finding, Severity
from echo_bot.cli.doctor.scene import Scene
from echo_bot.mcp.server import ServerState

AREA = "mcp"


def of_servers(scene: Scene) -> Iterator[Finding]:
    specs = server_specs(scene.config, {})
    if not specs:
        return
    if not has_sdk():
        yield Finding(AREA, Severity.WEAK, "the package mcp is missing", install_extra("mcp"))
        return
    for spec in specs:
        if reason := idle_reason(scene.config, spec.name):
            yield Finding(AREA, Severity.NOTE, f"{spec.name} is not started: {reason}")
        elif problem := missing_program(spec, scene.environ):
            yield Finding(
                AREA, Severity.WEAK, f"{spec.name}: {problem}", f"tools.mcp_servers.{spec.name}.command"
            )
        else:
            yield from _as_told(spec.name, scene)


def _as_told(name: str, scene: Scene) -> Iterator[Finding]:
    """What the running bot says of it; without one it would be started."""
    told = scene.sight.account.get("mcp_servers")
    mine = [each for each in told if each.get("name") == name] if isinstance(told, list) else []
    if not mine:
        yield Finding(AREA, Severity.NOTE, f"{name} would be started")
        return
    state, line = mine[0].get("state"), str(mine[0].get("line", ""))
    if state == ServerState.FAILED.value:
        yield Finding(AREA, Severity.WEAK, f"{name}: {line}")
    elif mine[0].get("notes"):
        yield Finding(AREA, Severity.WEAK, f"{name}: {line}", f"`{command(f'mcp list {name} --full')}`")
    else:
        yield Finding(AREA, Severity.OK, f"{name}: {line}")
