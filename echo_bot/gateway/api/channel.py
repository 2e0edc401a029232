"""The channel behind the HTTP API: a chat for each token, whose words wait for whoever asks."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

from echo_bot.channel import ChannelCapabilities, ChannelHealth, ChannelState, Port
from echo_bot.errors import TargetGone
from echo_bot.events import Address, Card, MessageRef, OutboundFile, OutboundText
from echo_bot.policy.settings import API

CAPABILITIES = ChannelCapabilities(
    max_length=100_000,
    edits=True,
    threads=True,
    dedups_sends=True,
    stream_interval_ms=250,
    stream_interval_group_ms=250,
)


@dataclass(frozen=True, slots=True)
class Said:
    """Something that was said in a chat just now. A draft is replaced by the next of the same id."""

    message_id: str
    text: str
    markdown: bool
    is_draft: bool


class ApiChannel:
    """A `Channel` without a platform. What is said is in the transcript, and goes to those who listen now."""

    name = API
    account = ""
    capabilities = CAPABILITIES

    def __init__(self) -> None:
        self._listeners: dict[Address, list[asyncio.Queue[Said]]] = {}
        self._state = ChannelState.STOPPED

    async def start(self, port: Port) -> None:
        self._state = ChannelState.CONNECTED

    async def stop(self) -> None:
        self._state = ChannelState.STOPPED

    def health(self) -> ChannelHealth:
        return ChannelHealth(self._state)

    @property
    def listeners(self) -> int:
        """How many requests listen now."""
        return sum(len(queues) for queues in self._listeners.values())

    @contextmanager
    def listening(self, address: Address) -> Iterator[asyncio.Queue[Said]]:
        """What is said in a chat from now on."""
        heard: asyncio.Queue[Said] = asyncio.Queue()
        self._listeners.setdefault(address, []).append(heard)
        try:
            yield heard
        finally:
            self._listeners[address].remove(heard)
            if not self._listeners[address]:
                del self._listeners[address]

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef:
        key = message.dedup_key
        ref = MessageRef(address, hashlib.sha256(key.encode()).hexdigest()[:24] if key else uuid4().hex[:24])
        self._tell(ref, message)
        return ref

    async def edit_text(self, ref: MessageRef, message: OutboundText) -> None:
        self._tell(ref, message)

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        return await self.send_text(address, OutboundText(card.fallback or card.title, markdown=False))

    async def edit_card(self, ref: MessageRef, card: Card) -> None:
        self._tell(ref, OutboundText(card.fallback or card.title, markdown=False))

    async def send_file(self, address: Address, file: OutboundFile) -> MessageRef:
        raise TargetGone("the HTTP API hands out no files")

    async def typing(self, address: Address) -> None:
        """Nobody watches."""

    def _tell(self, ref: MessageRef, message: OutboundText) -> None:
        said = Said(ref.message_id, message.text, message.markdown, message.is_draft)
        for heard in self._listeners.get(ref.address, ()):
            heard.put_nowait(said)
