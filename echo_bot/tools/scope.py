"""Whose calls these are: the turn, what it may use, where its calls are noted and who watches them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal, Protocol

from echo_bot.events import Address, Identity, InboundEvent, SessionKey, TurnId
from echo_bot.tools.base import ToolResult
from echo_bot.tools.in_order import InOrder


class CallWatch(Protocol):
    """Told of each call as it runs; see `echo_bot.delivery.status`."""

    def began(
        self, call_id: str, tool: str, address: Address, session_key: SessionKey, requester: str
    ) -> None: ...

    def ended(self, call_id: str, how: Literal["done", "failed", "stopped"]) -> None: ...


class CallJournal(Protocol):
    """The part of a turn's journal that calls need; see `echo_bot.agent.journal`."""

    def result(self, key: str) -> ToolResult | None: ...

    def was_started(self, key: str) -> bool: ...

    async def start_call(self, key: str, tool: str) -> None: ...

    async def finish_call(self, key: str, result: ToolResult) -> None: ...


@dataclass(frozen=True, slots=True)
class TurnScope:
    """Who a turn's calls are for. Trust comes from the event's typed fields and from nowhere else.

    `slots` bounds how many calls of this turn run at once; those that only wait do not count. `order` is that
    in which they came, as long as nobody was asked about them yet. `watch` is told
    of its calls in the place of the chat's status lines. `note` is what cards say of where the calls come
    from.
    """

    turn_id: TurnId
    session_key: SessionKey
    event: InboundEvent
    memory_scope: str
    journal: CallJournal
    agent_id: str = "main"
    nested: bool = False
    parent_execution_id: str | None = None
    allowed_tools: frozenset[str] = frozenset()
    slots: asyncio.Semaphore | None = None
    order: InOrder = field(default_factory=InOrder)
    watch: CallWatch | None = None
    note: str = ""

    @property
    def requester(self) -> Identity:
        return self.event.sender

    def may_use(self, tool: str) -> bool:
        """Has whoever calls got this tool at all? A conversation has all; a worker those of its brief."""
        return not self.nested or tool in self.allowed_tools
