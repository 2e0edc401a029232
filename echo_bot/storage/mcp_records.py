"""What is kept of MCP tools: the definition that a server listed last, and the one that is pinned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class McpDefinitionRecord:
    """A tool of a server under the server's own spelling. `seen` and `pinned` are its definitions as JSON.

    Without a pin `pinned_digest`, `pinned` and `pinned_by` are empty.
    """

    server: str
    tool: str
    seen_digest: str
    seen: str
    seen_at: datetime
    pinned_digest: str = ""
    pinned: str = ""
    pinned_by: str = ""
    pinned_at: datetime | None = None

    @property
    def is_pinned(self) -> bool:
        """Is what was seen last what is pinned?"""
        return self.seen_digest == self.pinned_digest


@dataclass(frozen=True, slots=True)
class SeenDefinition:
    """One tool of a listing: name, digest, definition as JSON."""

    tool: str
    digest: str
    text: str


class McpDefinitions(Protocol):
    async def list(self, server: str | None = None) -> tuple[McpDefinitionRecord, ...]:
        """By server and tool; of every server for None."""
        ...

    async def see(self, server: str, listed: Sequence[SeenDefinition], at: datetime) -> None:
        """This is the server's listing now. A tool that is gone is kept only with its pin."""
        ...

    async def pin(self, server: str, tool: str, digest: str, by: str, at: datetime) -> bool:
        """Pin what was seen last. False, and nothing changed, if that does not have this digest."""
        ...

    async def unpin(self, server: str, tool: str | None) -> int:
        """Take pins away, of all the server's tools for None; how many."""
        ...
