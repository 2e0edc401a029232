"""What crosses the port: inbound events and presses, outbound texts, cards and files. All frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NewType

EventId = NewType("EventId", str)
ApprovalId = NewType("ApprovalId", str)
TurnId = NewType("TurnId", str)
SessionKey = NewType("SessionKey", str)


class EventType(StrEnum):
    MESSAGE = "message"
    EDIT = "edit"


class BlockType(StrEnum):
    TEXT = "text"
    IMAGE = "image"
    FILE = "file"
    AUDIO = "audio"
    VIDEO = "video"
    VOICE = "voice"


@dataclass(frozen=True, slots=True)
class ContentBlock:
    """One piece of a message. `text` for TEXT; else `ref` is the platform's file id, `size` in bytes."""

    type: BlockType
    text: str = ""
    ref: str = ""
    name: str = ""
    mime: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Address:
    """Where a message came from or goes to: a chat (and thread) on a channel account."""

    channel: str
    chat_id: str
    thread_id: str = ""
    account: str = ""

    def __str__(self) -> str:
        head = f"{self.channel}/{self.account}" if self.account else self.channel
        return f"{head}:{self.chat_id}" + (f":{self.thread_id}" if self.thread_id else "")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who speaks: `channel[/account]:sender_id`, the platform's stable id, compared exactly."""

    channel: str
    sender_id: str
    account: str = ""

    def __str__(self) -> str:
        head = f"{self.channel}/{self.account}" if self.account else self.channel
        return f"{head}:{self.sender_id}"

    @classmethod
    def parse(cls, text: str) -> Identity:
        """The inverse of `str()`. Raises ValueError unless it has a channel and an id."""
        head, colon, sender_id = text.partition(":")
        channel, _, account = head.partition("/")
        if not (colon and channel and sender_id):
            raise ValueError(f"{text!r} is not of the form channel:id or channel/account:id")
        return cls(channel=channel, sender_id=sender_id, account=account)


@dataclass(frozen=True, slots=True)
class EditedCall:
    """A call as a person changed it: `args_json` are its arguments, `by` who did, by id and by name."""

    tool: str
    args_json: str
    by: str
    by_name: str = ""


@dataclass(frozen=True, slots=True)
class WorkerBrief:
    """What a worker's turn is held to; its goal is the event's text.

    `tools` are the only ones it has, `max_turns` bounds its answers. `depth` is 1 for what a conversation
    started. `origin` is the conversation's turn that it goes back to; `call_key` and `execution_id` name the
    call that started it, as number `index` of `count`. `spawned`: nobody waits, its result goes to the chat.
    """

    tools: tuple[str, ...]
    depth: int
    max_turns: int
    origin: TurnId
    call_key: str
    execution_id: str
    index: int = 1
    count: int = 1
    context: str = ""
    spawned: bool = False


@dataclass(frozen=True, slots=True)
class CronAuthority:
    """The authorisation by which a turn is `cron_authorized`: of which job, and by which approval."""

    job_id: str
    approval_id: str


@dataclass(frozen=True, slots=True)
class InboundEvent:
    """One message from a person or an internal producer.

    Adapters build it with `echo_bot.channel.inbound_event`, which cannot set the fields below `metadata`;
    the inbox resets those on whatever comes from a channel. `metadata` is for display: no policy reads it.
    `event_id` is the platform's own id; `dedup_ids` are all ids under which the platform may redeliver it.
    `album_id`: a part of an album of which more may come by themselves; those that do join its turn.
    `asks_again`: the changed call that this event asks for again; whoever changed it still is its author.
    `deliver_to`: where the answer goes, if not back to where the event came from. `occasion`: what the model
    is told of how the turn came about.
    `worker`: a worker's turn, or one that a worker started: its calls are nested.
    `authority`: what `cron_authorized` rests on; the gate asks at each call whether it still holds.
    """

    event_id: EventId
    event_type: EventType
    channel: str
    chat_id: str
    sender_id: str
    timestamp: datetime
    content: tuple[ContentBlock, ...] = ()
    account: str = ""
    thread_id: str = ""
    sender_name: str = ""
    message_id: str = ""
    reply_to_id: str = ""
    reply_to_text: str = ""
    reply_to_sender: str = ""
    reply_to_is_own: bool = False
    is_group: bool = False
    mentioned: bool = False
    from_bot: bool = False
    dedup_ids: tuple[str, ...] = ()
    album_id: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    session_key_override: str = ""
    memory_scope: str = ""
    unattended: bool = False
    cron_authorized: bool = False
    is_control: bool = False
    asks_again: EditedCall | None = None
    worker: WorkerBrief | None = None
    deliver_to: Address | None = None
    occasion: str = ""
    authority: CronAuthority | None = None

    @property
    def text(self) -> str:
        """All text blocks, joined by newlines."""
        return "\n".join(block.text for block in self.content if block.type is BlockType.TEXT)

    @property
    def sender(self) -> Identity:
        return Identity(self.channel, self.sender_id, self.account)

    @property
    def address(self) -> Address:
        return Address(self.channel, self.chat_id, self.thread_id, self.account)

    @property
    def answered_at(self) -> Address:
        """Where what the turn says goes."""
        return self.deliver_to or self.address


@dataclass(frozen=True, slots=True)
class ButtonPress:
    """Somebody pressed a button. `token` is opaque to the adapter; `text` answers the button's prompt."""

    press_id: str
    token: str
    presser: Identity
    address: Address
    message_id: str = ""
    presser_name: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class PressReply:
    """What to tell the presser, privately where the platform can. `ok` is False for a refusal."""

    text: str
    ok: bool = True


class ButtonStyle(StrEnum):
    PRIMARY = "primary"
    DANGER = "danger"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Button:
    """A labelled button. With `prompt`, the adapter asks the presser for words and sends them along.

    `prompt` is a hint; `Port.prompt` says what to ask this person now.
    """

    label: str
    token: str
    style: ButtonStyle = ButtonStyle.PLAIN
    prompt: str = ""


class CardState(StrEnum):
    OPEN = "open"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Literal text: the adapter shows it as it is, with no markup, links or mentions made from it."""

    text: str
    strong: bool = False


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Literal monospaced text. `language` is a hint ("diff", "bash", "json", "")."""

    text: str
    language: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Fields:
    """Short label/value pairs, shown as a list or a table."""

    rows: tuple[tuple[str, str], ...]


CardBlock = Paragraph | CodeBlock | Fields


@dataclass(frozen=True, slots=True)
class Card:
    """An approval card or a question, ready for any surface: secrets masked, invisible characters escaped.

    `card_id` stays the same through all its states; `short_id` is what people type. `deadline` is UTC.
    `risk` is the level's value ("exec"), for a surface that colours cards; the words say it anyway.
    `dedup_key` is the same whenever this very message is sent again, as in `OutboundText`.
    """

    card_id: str
    title: str
    blocks: tuple[CardBlock, ...]
    buttons: tuple[Button, ...] = ()
    state: CardState = CardState.OPEN
    short_id: str = ""
    fallback: str = ""
    deadline: datetime | None = None
    risk: str = ""
    dedup_key: str = ""


@dataclass(frozen=True, slots=True)
class OutboundFile:
    """A file to deliver: `path` on this machine, opened by the adapter at sending; `dedup_key`: as texts."""

    path: str
    name: str
    mime: str = "application/octet-stream"
    dedup_key: str = ""


@dataclass(frozen=True, slots=True)
class OutboundText:
    """One part of a message, already split to the channel's limit. `markdown` False: send it literally.

    `dedup_key` is the same whenever this very part is sent again: a platform that can sends it once.
    `is_own`: the bot's own words, not a model's or a tool's. Commands that they name are shown in the form in
    which the platform takes them.
    """

    text: str
    markdown: bool = True
    reply_to_id: str = ""
    dedup_key: str = ""
    is_draft: bool = False
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class MessageRef:
    """A message that stands in a chat: enough to edit it later, also after a restart."""

    address: Address
    message_id: str
