"""The registry: which tools are there, and for every known name why it can or cannot be called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from echo_bot.errors import StartError
from echo_bot.policy.catalogue import (
    CATALOGUE,
    RESERVED,
    ToolEntry,
    is_mcp_name,
    is_registrable,
    registered,
)
from echo_bot.policy.profiles import filter_reason
from echo_bot.policy.settings import ToolSettings
from echo_bot.tools.base import Tool

LATER = "not part of this version yet"
"""Why a tool of the catalogue that nobody built cannot be called."""


class Availability(StrEnum):
    AVAILABLE = "available"
    FILTERED = "filtered"
    DISABLED = "disabled"
    NOT_READY = "not_ready"
    RESERVED = "reserved"


@dataclass(frozen=True, slots=True)
class ToolState:
    """One tool for `status`: `reason` is the filtering key, the disabled key, or what is missing."""

    name: str
    state: Availability
    reason: str = ""


class Registry:
    """Built-in tools, the user's own, and those that servers offer as long as they do.

    Built-in and reserved names cannot be registered again, nor names of the form that servers' tools have.
    """

    def __init__(self, builtins: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in builtins:
            if tool.name not in CATALOGUE:
                raise StartError(f"{tool.name!r} is not a built-in tool")
            self._tools[tool.name] = tool
        self._builtin_names = frozenset(self._tools)
        self._served: dict[str, dict[str, Tool]] = {}

    def add(self, tool: Tool, origin: str) -> None:
        """Register somebody's own tool. Raises StartError for a name that is taken or malformed."""
        if is_mcp_name(tool.name):
            raise StartError(
                f"{origin}: a tool cannot be named {tool.name!r}: mcp_… is for MCP servers' tools"
            )
        if tool.name in self._tools or not is_registrable(tool.name):
            raise StartError(
                f"{origin}: a tool cannot be named {tool.name!r}: the name is taken, reserved or malformed "
                "(letters, digits, _ and -, at most 64)"
            )
        self._tools[tool.name] = tool

    def serve(self, source: str, tools: Iterable[Tool]) -> None:
        """What a server offers from now on, in place of what it offered. Its names must be mcp names."""
        self._served[source] = {tool.name: tool for tool in tools if is_mcp_name(tool.name)}

    def get(self, name: str) -> Tool | None:
        return next((tools[name] for tools in self._all() if name in tools), None)

    def is_builtin(self, name: str) -> bool:
        return name in self._builtin_names

    def __iter__(self) -> Iterator[Tool]:
        return iter([tool for tools in self._all() for tool in tools.values()])

    def _all(self) -> tuple[dict[str, Tool], ...]:
        return (self._tools, *self._served.values())

    def declared_risk(self, tool: Tool) -> str | None:
        """What the tool declares; a built-in's declaration is the static map itself."""
        return None if self.is_builtin(tool.name) else tool.risk_level

    def entry(self, tool: Tool) -> ToolEntry | None:
        """The tool as the policy sees it."""
        own = None if self.is_builtin(tool.name) else tool.parameters
        return registered(
            tool.name,
            declared_risk=self.declared_risk(tool),
            capabilities=tool.capabilities,
            parameters=own,
        )

    def offered(self, settings: ToolSettings) -> tuple[Tool, ...]:
        """The tools a model is shown: not filtered, and ready."""
        return tuple(
            tool for tool in self if self.state_of(tool.name, settings).state is Availability.AVAILABLE
        )

    def state_of(self, name: str, settings: ToolSettings) -> ToolState:
        if name in RESERVED:
            return ToolState(name, Availability.RESERVED)
        tool = self.get(name)
        entry = self.entry(tool) if tool else CATALOGUE.get(name)
        if entry is None:
            return ToolState(name, Availability.NOT_READY, "no such tool")
        key = filter_reason(entry, settings)
        if key is not None:
            is_disabled = key in settings.disabled
            return ToolState(name, Availability.DISABLED if is_disabled else Availability.FILTERED, key)
        if tool is None:
            return ToolState(name, Availability.NOT_READY, LATER)
        ready, why = readiness(tool)
        return ToolState(
            name, Availability.AVAILABLE if ready else Availability.NOT_READY, "" if ready else why
        )

    def states(self, settings: ToolSettings) -> tuple[ToolState, ...]:
        """Every catalogue, reserved and registered name, in alphabetical order."""
        names = {*CATALOGUE, *RESERVED, *(tool.name for tool in self)}
        return tuple(self.state_of(name, settings) for name in sorted(names))


def readiness(tool: Tool) -> tuple[bool, str]:
    """Is the tool ready, and why not; a tool that fails at being asked is not."""
    try:
        ready, why = tool.readiness_detail()
    except Exception as error:  # noqa: BLE001 - somebody's own code: its fault stays its own
        return False, f"asking whether it is ready failed: {type(error).__name__}: {error}"
    return bool(ready), str(why)
