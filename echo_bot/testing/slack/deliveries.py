"""What is delivered to the bot, and whether and when the bot acknowledged it."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from echo_bot.testing.slack.model import JsonObject
from echo_bot.testing.waiting import PATIENCE_SECONDS, eventually

DeliveryKind = Literal["events_api", "interactive", "slash_commands"]


@dataclass(slots=True)
class Delivery:
    """One envelope or request. `status` is the HTTP status in HTTP mode, `answer` what came back with it."""

    kind: DeliveryKind
    payload: JsonObject
    envelope_id: str
    on_acknowledged: Callable[[JsonObject], None] = lambda _: None
    attempt: int = 0
    sent_at: float = 0.0
    took_seconds: float = 0.0
    is_acknowledged: bool = False
    status: int = 0
    answer: JsonObject = field(default_factory=dict)

    def was_sent(self) -> None:
        self.sent_at = time.monotonic()

    def was_acknowledged(self, answer: JsonObject) -> None:
        if not self.is_acknowledged:
            self.took_seconds, self.answer = time.monotonic() - self.sent_at, answer
            self.is_acknowledged = True
            self.on_acknowledged(answer)

    async def acknowledged(self, timeout: float = PATIENCE_SECONDS) -> Delivery:
        """Wait until the bot has acknowledged it."""
        await eventually(lambda: self.is_acknowledged, f"an acknowledgement of {self.kind}", timeout)
        return self


class Carrier(ABC):
    """How deliveries reach the bot; see `sockets` and `signed`."""

    def __init__(self) -> None:
        self.deliveries: list[Delivery] = []

    def deliver(self, delivery: Delivery) -> Delivery:
        self.deliveries.append(delivery)
        self.send(delivery)
        return delivery

    @abstractmethod
    def send(self, delivery: Delivery) -> None: ...

    @abstractmethod
    async def stop(self) -> None: ...


async def end(tasks: set[asyncio.Task[None]]) -> None:
    """Cancel tasks and wait for their end."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
