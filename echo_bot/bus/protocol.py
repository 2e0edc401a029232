"""The Bus protocol: waking whoever waits, here or in another process, and leases that one process holds.

A signal is a hint to look at the store, never the news itself: it may come late or twice, and a receiver that
was not listening missed it. All methods raise StorageError when the database cannot be used.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

DECISIONS_TOPIC = "approvals"
"""Another process decided an approval: read the new decisions."""

PAUSES_TOPIC = "pauses"
"""Another process paused or resumed: read what is paused."""

JOBS_TOPIC = "jobs"
"""Another process changed a scheduled job, or wants one to run."""

PINS_TOPIC = "mcp_pins"
"""Another process pinned or unpinned definitions of MCP tools."""


@dataclass(frozen=True, slots=True)
class Signal:
    """What was notified: `topic` says what to look at, `payload` which one (an id, or nothing)."""

    topic: str
    payload: str = ""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who holds a name, until when. `token` rises with every new holder: the fence against a late one."""

    name: str
    holder: str
    token: int
    expires_at: datetime


class Subscription(Protocol):
    """Signals of some topics in the order they were heard. Listens from the call of `subscribe` on."""

    def __aiter__(self) -> AsyncIterator[Signal]: ...

    def close(self) -> None:
        """Stop listening; an iteration that waits ends. Idempotent."""
        ...


class Signals(Protocol):
    async def notify(self, topic: str, payload: str = "") -> None:
        """Wake the subscribers of this process at once, those of other processes within a second."""
        ...

    def subscribe(self, *topics: str) -> Subscription: ...


class Leases(Protocol):
    async def lease(self, name: str, holder: str, seconds: float) -> int | None:
        """Take a name that is free or whose lease ran out: a fencing token, or None if it is held."""
        ...

    async def renew(self, name: str, token: int, seconds: float) -> bool:
        """False: it was released, or somebody else took it; stop what the lease was for."""
        ...

    async def release(self, name: str, token: int) -> bool:
        """Free it now. False when the token is not the current one."""
        ...

    async def holder(self, name: str) -> Lease | None:
        """The lease that is in force."""
        ...


class Bus(Signals, Leases, Protocol):
    """Both over one database."""

    async def open(self) -> None: ...

    async def close(self) -> None: ...
