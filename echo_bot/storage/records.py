"""What is stored: one frozen record for each kind of row. Times are timezone-aware UTC datetimes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from echo_bot.events import Address, ApprovalId, EventId, MessageRef, SessionKey, TurnId


class TurnState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    UNKNOWN = "unknown"

    @property
    def is_final(self) -> bool:
        return self not in (TurnState.QUEUED, TurnState.RUNNING, TurnState.WAITING)


TurnKind = Literal["message", "job", "worker", "workflow"]
"""What a turn runs: somebody's message, a job that is due, a worker's task, the steps of a workflow."""


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One turn. `event_json` is the inbound event as stored; `order` rises with arrival.

    `memory_scope` is whose memory it uses; see `echo_bot.session.memory_scope`. `parent` is the turn that
    started it, "" for none; `result` is what it came to, for whoever waits for it.
    """

    turn_id: TurnId
    session_key: SessionKey
    event_id: EventId
    event_json: str
    state: TurnState
    created_at: datetime
    order: int = 0
    error: str = ""
    memory_scope: str = ""
    kind: TurnKind = "message"
    parent: str = ""
    result: str = ""


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn ends; see `TurnRecord`."""

    turn_id: TurnId
    state: TurnState = TurnState.DONE
    error: str = ""
    result: str = ""


JournalKind = Literal["file", "response", "call", "result", "note"]


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One step of a turn. (turn, kind, key) is unique: appending it again changes nothing."""

    kind: JournalKind
    key: str
    payload: str
    seq: int = 0


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """What a finished turn adds to the model's history: `messages_json` as the agent serialised it."""

    turn_id: TurnId
    messages_json: str
    at: datetime


@dataclass(frozen=True, slots=True)
class TranscriptRow:
    """One line of a chat as people saw it. `card_json` for cards; the newest row of an entry id wins.

    `scope` is the memory scope it belongs to, "" for none: whose search finds it.
    """

    entry_id: str
    address: Address
    role: Literal["user", "bot", "card"]
    text: str
    at: datetime
    sender: str = ""
    card_json: str = ""
    scope: str = ""


GROUP_SCOPE = "group:"
"""What the memory scopes of a group begin with; the session key of its chat follows."""


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """Something to remember for one memory scope, with who wrote it last, when, in which turn and call."""

    scope: str
    target: str
    content: str
    changed_at: datetime
    changed_by: str
    turn_id: str
    call_key: str
    created_at: datetime
    created_by: str
    id: int = 0


class ApprovalStatus(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    EDITED = "edited"
    USED = "used"


@dataclass(frozen=True, slots=True)
class Vote:
    """One approval of several that a call needs. `person` is who counts once, `voter` the id they used.

    `voter_name` is what they call themselves, for display alone.
    """

    person: str
    voter: str
    digest: str
    at: datetime
    voter_name: str = ""


ApprovalKind = Literal["approval", "question", "batch"]


@dataclass(frozen=True, slots=True)
class ApprovalRecord:
    """A question to a person and its answer.

    `kind` is "approval" for a gated call, "question" for a clarify, or "batch" for a card that lists several
    open calls. `request_json` is all that the card is rendered from and the gate needs after a restart.
    `offered` are the decisions a person may take (`tokens` holds one opaque token for each, same order).
    `decision` is the one taken; `answer` its reason or text. `decided_by` is who counts,
    `decided_by_name` what they call themselves. `deadline` is None until a card was delivered.
    `decision_seq` rises with every decision and vote. `quorum` is how many people must approve, `votes` who
    did so far. `edited_by` is who wrote this call in place of another; `edited_json` holds the arguments of
    the call that took this one's place. `remind_at` and `escalate_at` are cleared once done. `copies` are
    where its cards stand, `ended` those of them that show its end, `unplaced` the chats to which one was on
    its way when last heard of.
    """

    approval_id: ApprovalId
    turn_id: TurnId
    session_key: SessionKey
    kind: ApprovalKind
    requester: str
    address: Address
    tool: str
    digest: str
    risk: str
    request_json: str
    offered: tuple[str, ...]
    tokens: tuple[str, ...]
    status: ApprovalStatus
    created_at: datetime
    timeout_seconds: int
    deadline: datetime | None = None
    decided_at: datetime | None = None
    decided_by: str = ""
    decided_by_name: str = ""
    decision: str = ""
    answer: str = ""
    decision_seq: int = 0
    quorum: int = 1
    edited_by: str = ""
    edited_json: str = ""
    remind_at: datetime | None = None
    escalate_at: datetime | None = None
    copies: tuple[MessageRef, ...] = ()
    ended: tuple[MessageRef, ...] = ()
    unplaced: tuple[Address, ...] = ()
    votes: tuple[Vote, ...] = ()


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decision to be written: the new status, who, what and when; for an edit the changed arguments.

    `name` is what whoever decided calls themselves, for display alone. `grant` is remembered with it: both or
    neither.
    """

    status: ApprovalStatus
    decided_by: str
    decision: str
    at: datetime
    answer: str = ""
    edited_json: str = ""
    name: str = ""
    grant: GrantRecord | None = None


@dataclass(frozen=True, slots=True)
class Voted:
    """What a vote came to, and the record as it stands then (None when there is none).

    "closed": it was no longer open; "repeated": this person's vote was there already; "counted": more are
    needed; "decided": it was the last one, and the ruling was written.
    """

    outcome: Literal["closed", "repeated", "counted", "decided"]
    record: ApprovalRecord | None


@dataclass(frozen=True, slots=True)
class GrantRecord:
    """A remembered approval of exactly one call by one owner. `session_key` only for scope "session"."""

    grant_id: str
    owner: str
    digest: str
    tool: str
    summary: str
    scope: Literal["session", "1h", "always"]
    created_at: datetime
    created_by: str
    session_key: str = ""
    expires_at: datetime | None = None
    uses: int = 0
    last_used_at: datetime | None = None


OutboxState = Literal["queued", "sending", "sent", "dead", "unknown"]


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One part of one message to one chat. (source, part) is unique. `body_json` is delivery's own form."""

    source: str
    part: int
    address: Address
    body_json: str
    created_at: datetime
    row_id: int = 0
    state: OutboxState = "queued"
    tries: int = 0
    next_try_at: datetime | None = None
    message_id: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One line of the append-only audit. `mac` chains it to the row before (hash, or HMAC with a key)."""

    writer: str
    seq: int
    at: datetime
    kind: str
    body_json: str
    prev: str
    mac: str


@dataclass(frozen=True, slots=True)
class AuditHead:
    """Where a writer's chain ended when its last row was written: a chain that ends earlier lost its tail."""

    writer: str
    seq: int
    mac: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SealedValue:
    """An encrypted credential. `owner` is "channel:telegram" or "tool:web_search"; `field` its name."""

    owner: str
    field: str
    key_id: str
    nonce: bytes
    ciphertext: bytes
    updated_at: datetime


PairingRole = Literal["chat", "approver", "admin"]


@dataclass(frozen=True, slots=True)
class PairingCode:
    code_hash: str
    roles: tuple[PairingRole, ...]
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class PairedSender:
    identity: str
    roles: tuple[PairingRole, ...]
    paired_at: datetime


@dataclass(frozen=True, slots=True)
class ChatMove:
    """A chat that got a new id. `old_session` and `new_session` are the keys its sessions begin with."""

    channel: str
    account: str
    old_id: str
    new_id: str
    old_session: SessionKey
    new_session: SessionKey


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """For `status`: where the data is and how old its schema."""

    url: str
    revision: str
    details: dict[str, str] = field(default_factory=dict)
