"""The Store protocol: records and what may be asked of them. One contract suite runs over every one.

Times are timezone-aware UTC datetimes. Every method is one transaction. All raise StorageError, nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal, Protocol

from echo_bot.events import Address, ApprovalId, EventId, Identity, MessageRef, SessionKey, TurnId


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


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One turn. `event_json` is the inbound event as stored; `order` rises with arrival."""

    turn_id: TurnId
    session_key: SessionKey
    event_id: EventId
    event_json: str
    state: TurnState
    created_at: datetime
    order: int = 0
    error: str = ""


JournalKind = Literal["response", "call", "result", "note"]


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One step of a turn. (turn, kind, key) is unique: appending it again changes nothing."""

    kind: JournalKind
    key: str
    payload: str
    seq: int = 0


class Events(Protocol):
    """Which platform updates were seen: the persistent claim of every path in."""

    async def claim(self, dedup_ids: tuple[str, ...], turn: TurnRecord | None, at: datetime) -> bool:
        """Insert the ids and the queued turn together. False, and nothing changed, if any id was seen."""
        ...

    async def replace_queued(self, session_key: SessionKey, event_id: EventId, event_json: str) -> bool:
        """Replace the event of a turn that is still queued (an edited message). False if it is not."""
        ...

    async def forget_before(self, at: datetime) -> int:
        """Drop ids claimed before `at`; returns how many."""
        ...


class Turns(Protocol):
    async def get(self, turn_id: TurnId) -> TurnRecord | None: ...

    async def unfinished(self) -> tuple[TurnRecord, ...]:
        """Queued, running and waiting turns in order of arrival."""
        ...

    async def set_state(self, turn_id: TurnId, state: TurnState, error: str = "") -> bool:
        """False, and nothing changed, when the turn is already final or not there."""
        ...

    async def append(self, turn_id: TurnId, entry: JournalEntry) -> bool:
        """False when an entry with that kind and key is there already."""
        ...

    async def journal(self, turn_id: TurnId) -> tuple[JournalEntry, ...]: ...


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """What a finished turn adds to the model's history: `messages_json` as the agent serialised it."""

    turn_id: TurnId
    messages_json: str
    at: datetime


@dataclass(frozen=True, slots=True)
class TranscriptRow:
    """One line of a chat as people saw it. `card_json` for cards; the newest row of an entry id wins."""

    entry_id: str
    address: Address
    role: Literal["user", "bot", "card"]
    text: str
    at: datetime
    sender: str = ""
    card_json: str = ""


class Sessions(Protocol):
    async def add_history(self, session_key: SessionKey, entry: HistoryEntry) -> None:
        """Idempotent by turn id."""
        ...

    async def history(self, session_key: SessionKey, limit: int, since: datetime) -> tuple[HistoryEntry, ...]:
        """The last `limit` entries after the last reset and after `since`, oldest first."""
        ...

    async def reset(self, session_key: SessionKey, at: datetime) -> None:
        """Start afresh (/new); the old history stays for search but is not given to the model."""
        ...

    async def put_transcript(self, row: TranscriptRow) -> None:
        """Insert, or replace the row with that address and entry id (its place in the order stays)."""
        ...

    async def transcript(self, address: Address, limit: int) -> tuple[TranscriptRow, ...]:
        """The last `limit` rows, oldest first."""
        ...

    async def last_spoke(self, sender: Identity) -> tuple[Address, datetime] | None:
        """Where and when this sender last wrote (from the transcript)."""
        ...


class ApprovalStatus(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    USED = "used"


@dataclass(frozen=True, slots=True)
class ApprovalRecord:
    """A question to a person and its answer.

    `kind` is "approval" for a gated call or "question" for a clarify. `request_json` is all that the card is
    rendered from and the gate needs after a restart. `offered` are the decisions a person may take (`tokens`
    holds one opaque token for each, same order). `decision` is the one taken; `answer` its reason or text.
    `deadline` is None until a card was delivered. `decision_seq` rises with every decision.
    """

    approval_id: ApprovalId
    turn_id: TurnId
    session_key: SessionKey
    kind: Literal["approval", "question"]
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
    decision: str = ""
    answer: str = ""
    decision_seq: int = 0
    copies: tuple[MessageRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decision to be written: the new status, who, what and when."""

    status: ApprovalStatus
    decided_by: str
    decision: str
    at: datetime
    answer: str = ""


class Approvals(Protocol):
    async def attach(self, record: ApprovalRecord) -> ApprovalRecord:
        """Insert it; if its id is there already, return the stored one and change nothing."""
        ...

    async def get(self, approval_id: ApprovalId) -> ApprovalRecord | None: ...

    async def by_token(self, token: str) -> tuple[ApprovalRecord, str] | None:
        """The record and the decision that a button's token stands for."""
        ...

    async def pending(self) -> tuple[ApprovalRecord, ...]:
        """Oldest first."""
        ...

    async def set_deadline(self, approval_id: ApprovalId, deadline: datetime) -> None:
        """Only while pending."""
        ...

    async def add_copy(self, approval_id: ApprovalId, ref: MessageRef) -> None: ...

    async def decide(self, approval_id: ApprovalId, ruling: Ruling) -> ApprovalRecord | None:
        """The atomic claim pending → decided. None if somebody was first (read it with `get`)."""
        ...

    async def use(self, approval_id: ApprovalId) -> bool:
        """approved → used, once. False if it is in any other state."""
        ...

    async def decided_after(self, seq: int) -> tuple[ApprovalRecord, ...]:
        """Decisions with a `decision_seq` above `seq`, in order: how a process hears of another's."""
        ...


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


class Grants(Protocol):
    async def add(self, grant: GrantRecord) -> None: ...

    async def match(self, owner: str, digest: str, session_key: str, now: datetime) -> GrantRecord | None:
        """A live grant of that owner for that digest: unexpired, and of this session if a session one."""
        ...

    async def count_use(self, grant_id: str, now: datetime) -> None: ...

    async def list(self, owner: str | None, now: datetime) -> tuple[GrantRecord, ...]:
        """Live grants, oldest first; of everybody for None."""
        ...

    async def revoke(self, grant_id: str) -> bool: ...

    async def end_session(self, session_key: str) -> int:
        """Drop the session grants of a session (/new); returns how many."""
        ...


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


class Outbox(Protocol):
    async def put(self, rows: tuple[OutboxRow, ...]) -> tuple[OutboxRow, ...]:
        """Insert those whose (source, part) is new; returns all of them as stored, in order."""
        ...

    async def due(self, now: datetime, limit: int) -> tuple[OutboxRow, ...]:
        """Queued rows whose time has come, oldest first, at most one (the oldest unsent) per address."""
        ...

    async def mark(
        self,
        row_id: int,
        state: OutboxState,
        *,
        message_id: str = "",
        error: str = "",
        next_try_at: datetime | None = None,
        count_try: bool = False,
    ) -> None: ...

    async def recover(self) -> tuple[OutboxRow, ...]:
        """Rows left `sending` by a crash become `unknown`; returns them."""
        ...

    async def list(self, state: OutboxState, limit: int) -> tuple[OutboxRow, ...]: ...


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


class AuditRows(Protocol):
    async def last(self, writer: str) -> AuditRow | None: ...

    async def append(self, row: AuditRow) -> None:
        """Raises StorageError when (writer, seq) is taken; moves the writer's head along."""
        ...

    async def tail(self, limit: int) -> tuple[AuditRow, ...]:
        """The newest rows over all writers, oldest first."""
        ...

    async def chain(self, writer: str) -> tuple[AuditRow, ...]: ...

    async def writers(self) -> tuple[str, ...]: ...

    async def of_kind(self, kind: str) -> tuple[AuditRow, ...]:
        """Oldest first."""
        ...

    async def heads(self) -> tuple[AuditHead, ...]:
        """Moved by `append` in the same transaction; the writer who spoke last comes last."""
        ...

    async def prune(self, before: datetime, anchor_kind: str) -> int:
        """Drop rows before `before`; each writer's last of them stays, emptied, as an anchor of that kind."""
        ...


@dataclass(frozen=True, slots=True)
class SealedValue:
    """An encrypted credential. `owner` is "channel:telegram" or "tool:web_search"; `field` its name."""

    owner: str
    field: str
    key_id: str
    nonce: bytes
    ciphertext: bytes
    updated_at: datetime


class SealedValues(Protocol):
    async def put(self, value: SealedValue) -> None: ...

    async def get(self, owner: str, field: str) -> SealedValue | None: ...

    async def list(self) -> tuple[SealedValue, ...]: ...

    async def delete(self, owner: str, field: str) -> bool: ...


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


class People(Protocol):
    """Who was paired, and the one-time codes that do it."""

    async def add_code(self, code: PairingCode) -> None: ...

    async def open_codes(self, now: datetime) -> int: ...

    async def redeem(self, code_hash: str, identity: str, now: datetime) -> PairedSender | None:
        """Spend an unexpired code once. A miss counts against `identity`."""
        ...

    async def misses(self, identity: str, since: datetime) -> int: ...

    async def paired(self) -> tuple[PairedSender, ...]: ...

    async def unpair(self, identity: str) -> bool: ...


class Logins(Protocol):
    """Web log-in links and cookies, by hash only."""

    async def add_link(self, link_hash: str, identity: str, expires_at: datetime) -> None: ...

    async def spend_link(self, link_hash: str, now: datetime) -> str | None:
        """The identity it logs in, once."""
        ...

    async def link_is_open(self, link_hash: str, now: datetime) -> bool: ...

    async def add_cookie(self, cookie_hash: str, identity: str, expires_at: datetime) -> None: ...

    async def cookie(self, cookie_hash: str, now: datetime) -> str | None: ...

    async def drop_cookie(self, cookie_hash: str) -> bool: ...


class Values(Protocol):
    """Small pieces of state that belong to one scope: a session's todo list, a channel's cursor."""

    async def get(self, scope: str, key: str) -> str | None: ...

    async def put(self, scope: str, key: str, value: str) -> None: ...

    async def delete(self, scope: str, key: str) -> bool: ...

    async def list(self, scope: str) -> dict[str, str]: ...


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """For `status`: where the data is and how old its schema."""

    url: str
    revision: str
    details: dict[str, str] = field(default_factory=dict)


class Store(Protocol):
    """All of it. `open` migrates; a corrupt or foreign file is refused untouched (StorageError)."""

    @property
    def events(self) -> Events: ...
    @property
    def turns(self) -> Turns: ...
    @property
    def sessions(self) -> Sessions: ...
    @property
    def approvals(self) -> Approvals: ...
    @property
    def grants(self) -> Grants: ...
    @property
    def outbox(self) -> Outbox: ...
    @property
    def audit(self) -> AuditRows: ...
    @property
    def sealed(self) -> SealedValues: ...
    @property
    def people(self) -> People: ...
    @property
    def logins(self) -> Logins: ...
    @property
    def values(self) -> Values: ...

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def info(self) -> StoreInfo: ...
