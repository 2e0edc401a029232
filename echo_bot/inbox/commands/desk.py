"""What a command is given: how it was sent, and what it works with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from echo_bot.agent.ledger import Ledger
from echo_bot.agent.workers import Workers
from echo_bot.approval.broker import Broker
from echo_bot.channel import Command
from echo_bot.events import Identity, InboundEvent, SessionKey
from echo_bot.flows.tasks import Tasks
from echo_bot.flows.workflows import Workflows
from echo_bot.inbox.albums import Albums
from echo_bot.inbox.undoing import Undoing
from echo_bot.scheduler.runs import Runs
from echo_bot.session import Pausing, SessionQueues
from echo_bot.storage.protocol import Store


@dataclass(frozen=True, slots=True)
class Request:
    """One command as it was sent."""

    event: InboundEvent
    session_key: SessionKey
    rest: str

    @property
    def sender(self) -> Identity:
        return self.event.sender

    @property
    def name(self) -> str:
        return self.event.sender_name


class Overview(Protocol):
    """What /status and /tools say; see `echo_bot.app`."""

    async def status_text(self) -> str: ...

    def tools_text(self) -> str: ...

    def is_admin(self, sender: Identity) -> Awaitable[bool]: ...

    async def end_session(self, session_key: SessionKey) -> None: ...


class Recorder(Protocol):
    async def record(self, kind: str, **fields: object) -> None: ...


class Models(Protocol):
    """The models that a conversation may ask; see `echo_bot.agent.candidates`."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def default(self) -> str: ...

    async def chosen(self, session_key: SessionKey) -> str: ...

    async def choose(self, session_key: SessionKey, name: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Desk:
    """The parts of the bot that commands use. A command that needs another one adds it here."""

    store: Store
    broker: Broker
    queues: SessionQueues
    workers: Workers
    workflows: Workflows
    tasks: Tasks
    runs: Runs
    pausing: Pausing
    albums: Albums
    overview: Overview
    undoing: Undoing
    models: Models | None
    ledger: Ledger
    audit: Recorder
    mask: Callable[[str], str]
    clock: Callable[[], datetime]


Answer = Callable[[Request, Desk], Awaitable[str]]
"""What a command answers, in markdown."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One command: how it looks, and what answers it. Without an answer the inbox takes it itself.

    `is_control`: it never queues and is never rate limited.
    """

    command: Command
    answer: Answer | None = None
    is_control: bool = False
