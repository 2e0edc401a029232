"""The port between the core and the adapters: what a channel is, what it may ask for, how it is found.

An adapter imports this module, `.events`, `.errors`, `.text` and its SDK, and nothing else of Echo Bot.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from echo_bot.events import (
    Address,
    ButtonPress,
    Card,
    ContentBlock,
    EventId,
    EventType,
    Identity,
    InboundEvent,
    MessageRef,
    OutboundFile,
    OutboundText,
    PressReply,
)

AsgiApp = Callable[
    [
        MutableMapping[str, Any],
        Callable[[], Awaitable[MutableMapping[str, Any]]],
        Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ],
    Awaitable[None],
]
"""An ASGI application, as the gateway mounts it."""


class LengthUnit(StrEnum):
    CHARACTERS = "characters"
    UTF16 = "utf16"


class Prompting(StrEnum):
    NONE = "none"
    REPLY = "reply"
    MODAL = "modal"


@dataclass(frozen=True, slots=True)
class ChannelCapabilities:
    """What a channel can do. The core asks these flags, never the channel's name.

    `prompts`: how a button asks for words – a modal, a reply to a question in the chat, or not at all.
    `private_replies`: what a press or a command answers is seen by that person alone. `native_commands`: the
    platform offers the commands itself and completes what is typed. `receives_files`: see `FileSource`.
    `redraws` False: an edit is shown anew below, as on paper, so nothing is shown that changes by itself.
    """

    max_length: int
    length_unit: LengthUnit = LengthUnit.CHARACTERS
    buttons: bool = False
    edits: bool = False
    typing: bool = False
    files: bool = False
    threads: bool = False
    groups: bool = False
    pending_list: bool = False
    authenticates_sender: bool = True
    dedups_sends: bool = False
    prompts: Prompting = Prompting.NONE
    private_replies: bool = False
    native_commands: bool = False
    receives_files: bool = False
    reactions: bool = False
    redraws: bool = True
    stream_interval_ms: int = 1000
    stream_interval_group_ms: int = 1000


class ChannelState(StrEnum):
    STARTING = "starting"
    CONNECTED = "connected"
    RETRYING = "retrying"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ChannelHealth:
    """For `status`: what the channel is doing. Times are UTC; `error` is a sentence without secrets."""

    state: ChannelState
    last_event_at: datetime | None = None
    error: str = ""
    next_retry_at: datetime | None = None


class Completes(StrEnum):
    """What a command's parameter is completed with; see `Port.complete`."""

    NOTHING = ""
    APPROVALS = "approvals"
    GRANTS = "grants"
    TOOLS = "tools"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a command. `choices` are all its values, if few; the last one may take the rest."""

    name: str
    description: str
    required: bool = True
    choices: tuple[str, ...] = ()
    completes: Completes = Completes.NOTHING

    @property
    def usage(self) -> str:
        """`<id>`, `[reason]` or `[once|session]`."""
        words = "|".join(self.choices) or self.name
        return f"<{words}>" if self.required else f"[{words}]"


@dataclass(frozen=True, slots=True)
class Command:
    """One chat command: `name` without the slash. Its text form is `/name` and the values, in this order.

    `starts_turn`: it queues like a message and its reply comes by `Channel.send_text`.
    """

    name: str
    description: str
    parameters: tuple[Parameter, ...] = ()
    starts_turn: bool = False

    @property
    def usage(self) -> str:
        return " ".join(parameter.usage for parameter in self.parameters)


@dataclass(frozen=True, slots=True)
class CommandReply:
    """What a native command came to: the answer in markdown, or `queued` when it became a turn.

    `ok` False: it was refused, and `text` says why.
    """

    text: str = ""
    queued: bool = False
    ok: bool = True


@dataclass(frozen=True, slots=True)
class Completion:
    """One way to complete a parameter: what is inserted and what is shown for it."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a button asks for: the question, and the words to begin with (all of them, never shortened)."""

    question: str
    initial: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class FileLocation:
    """Where the core fetches a received file: a URL with the headers it needs, or a path on this machine.

    `url` and `headers` may hold credentials: they are sent to that URL's origin only and never logged.
    `path` only where the operator runs the platform's server on this machine.
    """

    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    path: str = ""


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """One line of a chat's past: who said it (`role` is "user", "bot" or "card") and when."""

    entry_id: str
    role: str
    text: str
    at: datetime
    card: Card | None = None


class Port(Protocol):
    """What an adapter may ask of the core. Every call is safe to await from the SDK's callbacks."""

    async def receive(self, event: InboundEvent) -> bool:
        """Store the event and queue it; returns once stored. False: not admitted or seen before."""
        ...

    async def press(self, press: ButtonPress) -> PressReply:
        """Decide with a button; returns what to tell the presser. Never raises for a refused press."""
        ...

    async def prompt(self, press: ButtonPress) -> Prompt | PressReply:
        """What to ask after a press on a button with a `prompt`; a reply if this person may not decide.

        The words come back as `ButtonPress.text` with the same token.
        """
        ...

    async def command(self, event: InboundEvent) -> CommandReply:
        """A native command (its text form is the event's text), whose answer is wanted at once.

        Like `receive` it is claimed and stored first; a repeat answers with nothing. A stranger is told that
        the bot does not know them, since the platform shows an error where nothing is answered.
        """
        ...

    async def complete(self, viewer: Identity, parameter: Parameter, typed: str) -> tuple[Completion, ...]:
        """At most 25 completions of what was typed, best first; none for a stranger."""
        ...

    async def chat_moved(self, old: Address, new_chat_id: str) -> None:
        """The platform gave a chat a new id: whatever is stored under the old one belongs to the new one."""
        ...

    async def admits(self, sender: Identity) -> bool:
        """May this sender speak here? For typing signs and downloads before `receive`."""
        ...

    async def transcript(self, address: Address, limit: int) -> tuple[TranscriptEntry, ...]:
        """The last `limit` entries of a chat, oldest first, open cards included."""
        ...

    async def pending(self, viewer: Identity) -> tuple[Card, ...]:
        """The open cards that `viewer` may decide, oldest first."""
        ...

    def commands(self) -> tuple[Command, ...]:
        """The chat commands, for platform menus and completion."""
        ...


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


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """One account's part of the configuration, as the adapter gets it. Values are checked already."""

    account: str
    api_base: str = ""
    proxy: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class ChannelManifest:
    """What a channel is, without importing its SDK. Registered in the entry-point group `echo_bot.channels`.

    `build` names a `Callable[[ChannelSettings], Channel]`, imported late: "channels.telegram.adapter:build".
    `setup` names a `ChannelSetup`, for a platform that needs one.
    `options` and `secrets` name the YAML keys beyond the common ones; a secret is stored encrypted.
    """

    name: str
    title: str
    build: str
    setup: str = ""
    authenticates_sender: bool = True
    options: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """A secret that an account needs: its YAML key, its name on the platform, and where a person finds it."""

    field: str
    label: str
    where: str


@dataclass(frozen=True, slots=True)
class SetupReport:
    """What a platform says of an account: the bot's name there, what is wrong and how to mend it.

    With `problems` the channel would not work, or not wholly; `steps` are for the person, such as a link.
    """

    bot: str
    problems: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()


SETUP_TOKEN = "setup"
"""The token of a test card's button: a press on it is answered and decides nothing."""


class ChannelSetup(Protocol):
    """Helps a person to set an account up, while the channel itself does not run."""

    def wanted(self, options: Mapping[str, str]) -> tuple[Wanted, ...]:
        """The secrets that an account with these options needs."""
        ...

    async def check(self, settings: ChannelSettings) -> SetupReport:
        """Ask the platform by its own calls. Raises ChannelError; ChannelFatal when it refuses a secret."""
        ...

    async def send_card(self, settings: ChannelSettings, to: str, card: Card) -> None:
        """Send one card to a person or chat by its id. Raises ChannelError."""
        ...


def inbound_event(
    *,
    event_id: str,
    channel: str,
    chat_id: str,
    sender_id: str,
    timestamp: datetime,
    content: tuple[ContentBlock, ...],
    event_type: EventType = EventType.MESSAGE,
    account: str = "",
    thread_id: str = "",
    sender_name: str = "",
    message_id: str = "",
    reply_to_id: str = "",
    reply_to_text: str = "",
    reply_to_sender: str = "",
    reply_to_is_own: bool = False,
    is_group: bool = False,
    mentioned: bool = False,
    from_bot: bool = False,
    dedup_ids: tuple[str, ...] = (),
    album_id: str = "",
    metadata: Mapping[str, str] | None = None,
) -> InboundEvent:
    """Build an event from a platform's update. There is no parameter for trust, session key or memory scope.

    `timestamp` is timezone-aware. `event_id` is unique within the channel account.
    """
    return InboundEvent(
        event_id=EventId(event_id),
        event_type=event_type,
        channel=channel,
        chat_id=chat_id,
        sender_id=sender_id,
        timestamp=timestamp,
        content=content,
        account=account,
        thread_id=thread_id,
        sender_name=sender_name,
        message_id=message_id,
        reply_to_id=reply_to_id,
        reply_to_text=reply_to_text,
        reply_to_sender=reply_to_sender,
        reply_to_is_own=reply_to_is_own,
        is_group=is_group,
        mentioned=mentioned,
        from_bot=from_bot,
        dedup_ids=dedup_ids,
        album_id=album_id,
        metadata=dict(metadata or {}),
    )
