"""The MCP servers of the configuration, made into connections that can be started."""

from __future__ import annotations

import os
import shutil
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import httpx
from pydantic import SecretStr

from echo_bot.app.remembering import Witnesses
from echo_bot.called import install_extra
from echo_bot.config.model import Config
from echo_bot.config.places import absolute, data_dir
from echo_bot.config.tools import McpServer as McpServerConfig
from echo_bot.execution.environment import clean_environment
from echo_bot.mcp.offered import Offered, judged, remembered
from echo_bot.mcp.server import Around, Connect
from echo_bot.mcp.servers import McpServers
from echo_bot.mcp.spec import ServerSpec, Timing
from echo_bot.net import GuardedTransport, guarded_transport
from echo_bot.policy.capabilities import MCP_CALL
from echo_bot.policy.guards.network import NetworkRules
from echo_bot.policy.profiles import SECURITY_DENY
from echo_bot.policy.settings import PolicySettings
from echo_bot.storage.mcp_records import McpDefinitionRecord, McpDefinitions
from echo_bot.tools.builtin.workspace import Workspace
from echo_bot.tools.registry import Registry

Stored = Mapping[tuple[str, str], str]
"""Stored credentials by owner and field."""


def build_servers(
    config: Config,
    settings: PolicySettings,
    registry: Registry,
    workspace: Workspace,
    definitions: McpDefinitions,
    stored: Stored,
    witnesses: Witnesses,
) -> McpServers:
    """Nothing is started, and nothing of the SDK imported."""
    specs = server_specs(config, stored)
    around = Around(
        definitions=definitions,
        audit=witnesses.audit,
        load=partial(_load, settings, data_dir(config) / "mcp", witnesses.mask),
        publish=lambda server: None,
        mask=witnesses.mask,
        clock=witnesses.clock,
        timing=Timing(),
    )
    idle = {spec.name: reason for spec in specs if (reason := idle_reason(config, spec.name))}
    return McpServers(specs, idle, around, registry, workspace)


def server_specs(config: Config, stored: Stored) -> tuple[ServerSpec, ...]:
    return tuple(_spec(name, server, stored) for name, server in config.tools.mcp_servers.items())


@dataclass(frozen=True, slots=True)
class KnownTool:
    """A tool as its server listed it last, and the risk that the operator gave the server, "" for none."""

    offered: Offered
    risk: str


def known_tools(config: Config, records: Sequence[McpDefinitionRecord]) -> dict[str, KnownTool]:
    """The tools of the configured servers by name, from what is stored: nothing is started."""
    return {
        name: KnownTool(each, spec.risk)
        for spec in server_specs(config, {})
        for name, each in judged(
            spec.name, remembered(spec, records), [r for r in records if r.server == spec.name]
        ).items()
    }


def idle_reason(config: Config, server: str) -> str:
    """The key that keeps this server from being started, "" for none: nobody could call its tools."""
    if not config.tools.mcp.enabled:
        return "tools.mcp.enabled is false"
    if not config.tools.mcp_servers[server].enabled:
        return f"tools.mcp_servers.{server}.enabled is false"
    if MCP_CALL in SECURITY_DENY[config.security.profile][1]:
        return f"security.profile {config.security.profile} takes MCP tools away"
    return ""


def has_sdk() -> bool:
    """Is the extra `mcp` installed? Nothing of it is imported."""
    return find_spec("mcp") is not None


def missing_program(spec: ServerSpec, environ: Mapping[str, str]) -> str:
    """What to say where the program of a server is not there; "" where it is, or none is needed."""
    if not spec.command:
        return ""
    path = clean_environment(environ, home="/", tmpdir="/tmp")["PATH"]
    if shutil.which(spec.command, path=spec.env.get("PATH", path)) is None:
        return f"its program {spec.command} is not there"
    return ""


def servers_warnings(config: Config, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Why servers that a start would begin with cannot begin."""
    specs = [spec for spec in server_specs(config, {}) if not idle_reason(config, spec.name)]
    if specs and not has_sdk():
        return (f"no MCP server is started: the package mcp is missing. {install_extra('mcp')}",)
    problems = ((spec.name, missing_program(spec, environ)) for spec in specs)
    return tuple(f"MCP server {name} is not started: {problem}" for name, problem in problems if problem)


def _spec(name: str, server: McpServerConfig, stored: Stored) -> ServerSpec:
    def values(part: str, written: Mapping[str, SecretStr]) -> dict[str, str]:
        """As written; what is left empty or out, as stored."""
        owner = f"tools.mcp_servers.{name}.{part}"
        kept = {field: value for (of, field), value in stored.items() if of == owner}
        plain = {key: value.get_secret_value() for key, value in written.items()}
        return kept | {key: value for key, value in plain.items() if value or key not in kept}

    return ServerSpec(
        name=name,
        command=str(absolute(server.command)) if "/" in server.command else server.command,
        args=tuple(server.args),
        env=values("env", server.env),
        url=server.url,
        headers={name: value for name, value in values("headers", server.headers).items() if value},
        timeout_seconds=server.timeout,
        include=tuple(server.tools_include),
        exclude=tuple(server.tools_exclude),
        risk=server.risk or "",
    )


def _load(settings: PolicySettings, folder: Path, mask: Callable[[str], str]) -> Connect:
    """Raises ImportError without the extra `mcp`."""
    from echo_bot.mcp.connection import connected

    places = settings.places
    environment = clean_environment(os.environ, home=places.home, tmpdir=os.environ.get("TMPDIR", "/tmp"))
    rules = NetworkRules(settings.tools.network_policy, settings.tools.network_allow)

    def guarded(endpoint: str) -> GuardedTransport:
        return guarded_transport(rules, endpoints=[endpoint], ssl_context=_ssl_context())

    return partial(connected, environment=environment, folder=folder, guarded=guarded, mask=mask)


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx.create_ssl_context()
