"""What the core asks of an adapter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Protocol

from echo_bot.channel.capabilities import ChannelCapabilities, ChannelHealth
from echo_bot.channel.port import FileLocation, Port
from echo_bot.events import Address, Card, ContentBlock, MessageRef, OutboundFile, OutboundText

AsgiApp = Callable[
    [
        MutableMapping[str, Any],
        Callable[[], Awaitable[MutableMapping[str, Any]]],
        Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ],
    Awaitable[None],
]
"""An ASGI application, as the gateway mounts it."""


class Channel(Protocol):
    """One account of one platform. Every method may raise the leaves of `ChannelError`, nothing else."""

    name: str
    account: str
    capabilities: ChannelCapabilities

    async def start(self, port: Port) -> None:
        """Connect and begin to receive. Returns once running or retrying by itself; raises ChannelFatal."""
        ...

    async def stop(self) -> None:
        """Stop receiving, end every task, close connections. Idempotent."""
        ...

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef: ...

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        """Send a card that fits one message (the core splits longer ones and sends the rest before)."""
        ...

    async def send_file(self, address: Address, file: OutboundFile) -> MessageRef: ...

    async def edit_text(self, ref: MessageRef, message: OutboundText) -> None: ...

    async def edit_card(self, ref: MessageRef, card: Card) -> None:
        """Show the card's new state and buttons in place of the old ones."""
        ...

    async def typing(self, address: Address) -> None:
        """Show a typing sign for a few seconds; a no-op where the platform has none."""
        ...

    def health(self) -> ChannelHealth: ...


class FileSource(Protocol):
    """A channel with `capabilities.receives_files` also has this: the core fetches what people sent."""

    async def locate(self, block: ContentBlock) -> FileLocation:
        """Where the file of an attachment is now. Raises ChannelError: TargetGone when it is no more."""
        ...


class PendingBoard(Protocol):
    """A channel with `capabilities.pending_list` also has this: it shows all open cards somewhere."""

    async def pending_changed(self) -> None:
        """The set of open cards changed; ask `Port.pending` again."""
        ...


class Mountable(Protocol):
    """A channel that serves HTTP also has this: the gateway mounts `routes()` behind its log-in.

    For a logged-in request `scope["state"]["viewer"]` is the visitor's `Identity`.
    """

    def routes(self) -> AsgiApp: ...


class Hooked(Protocol):
    """A channel that its platform calls by HTTP also has this, before `start` too.

    The gateway serves each path without a log-in and passes the raw body: the app proves who calls, and
    answers 503 while the channel does not run.
    """

    def hooks(self) -> Mapping[str, AsgiApp]: ...
