"""What the HTTP API works with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from echo_bot.approval.broker import Broker
from echo_bot.audit import Report
from echo_bot.channel import Port
from echo_bot.gateway.api.channel import ApiChannel
from echo_bot.gateway.tokens import Tokens
from echo_bot.session import SessionQueues
from echo_bot.storage.protocol import Store


class Recorder(Protocol):
    async def record(self, kind: str, **fields: object) -> None: ...


@dataclass(frozen=True, slots=True)
class ApiParts:
    """`status` is what `echo-bot status --json` prints, and may block. `has_limits` False: nobody waits."""

    tokens: Tokens
    channel: ApiChannel
    port: Port
    store: Store
    queues: SessionQueues
    broker: Broker
    audit: Recorder
    verify_audit: Callable[[], Awaitable[Report]]
    status: Callable[[], Mapping[str, object]]
    tools: Callable[[], list[dict[str, str]]]
    mask: Callable[[str], str]
    clock: Callable[[], datetime]
    has_limits: bool = True
