"""The Store protocol: what may be asked of the records.

Every method is one transaction. All raise StorageError and nothing else.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from echo_bot.events import Address, ApprovalId, EventId, Identity, MessageRef, SessionKey, TurnId
from echo_bot.storage.checkpoint_record import Checkpoints
from echo_bot.storage.flow_records import Tasks, Workflows
from echo_bot.storage.job_record import Jobs
from echo_bot.storage.lasting import (
    AuditRows,
    Logins,
    Memories,
    Moves,
    People,
    Retention,
    SealedValues,
    Values,
)
from echo_bot.storage.mcp_records import McpDefinitions
from echo_bot.storage.records import (
    ApprovalRecord,
    GrantRecord,
    HistoryEntry,
    JournalEntry,
    OutboxRow,
    OutboxState,
    Ruling,
    StoreInfo,
    TranscriptRow,
    TurnEnd,
    TurnRecord,
    TurnState,
    Vote,
    Voted,
)
from echo_bot.storage.usage_record import Summaries, Usage
from echo_bot.text.terms import Terms

__all__ = [
    "Approvals",
    "AuditRows",
    "Checkpoints",
    "Events",
    "Grants",
    "Jobs",
    "Logins",
    "McpDefinitions",
    "Memories",
    "Moves",
    "Outbox",
    "People",
    "Retention",
    "SealedValues",
    "Sessions",
    "Store",
    "Summaries",
    "Tasks",
    "Turns",
    "Usage",
    "Values",
    "Workflows",
]


class Events(Protocol):
    """Which platform updates were seen: the persistent claim of every path in."""

    async def claim(
        self,
        dedup_ids: tuple[str, ...],
        turn: TurnRecord | None,
        at: datetime,
        said: TranscriptRow | None = None,
        instead_of: TurnId | None = None,
    ) -> bool:
        """Insert the ids, the queued turn and its line of the transcript together.

        The turn may stand for an earlier one, `instead_of`, which is no part of the history from then on.
        False, and nothing changed, if any id was seen.
        """
        ...

    async def join(
        self,
        dedup_ids: tuple[str, ...],
        session_key: SessionKey,
        event_id: EventId,
        event_json: str,
        at: datetime,
        said: TranscriptRow,
    ) -> bool:
        """Insert the ids of a further part and replace the event of its turn and its line together.

        False, and nothing changed, if any id was seen or the turn is not queued any more.
        """
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

    async def last_message(self, session_key: SessionKey) -> TurnRecord | None:
        """The newest turn of the session that runs a message."""
        ...

    async def unfinished_children(self, turn_id: TurnId) -> tuple[TurnRecord, ...]:
        """Those of them that this turn started, itself, in order."""
        ...

    async def begin(self, turn_id: TurnId) -> tuple[JournalEntry, ...] | None:
        """Mark it running and return its journal; None when the turn is already final or not there."""
        ...

    async def set_state(self, turn_id: TurnId, state: TurnState, error: str = "", result: str = "") -> bool:
        """False, and nothing changed, when the turn is already final or not there."""
        ...

    async def append(self, turn_id: TurnId, entry: JournalEntry) -> bool:
        """False when an entry with that kind and key is there already."""
        ...

    async def journal(self, turn_id: TurnId) -> tuple[JournalEntry, ...]: ...


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

    async def chats(
        self, channel: str | None, chat_id: str | None, limit: int, *, account: str | None = None
    ) -> tuple[tuple[Address, datetime], ...]:
        """The chats with a transcript and the time of their last line, the newest first; None: any."""
        ...

    async def last_spoke(self, sender: Identity) -> tuple[Address, datetime] | None:
        """Where and when this sender last wrote (from the transcript)."""
        ...

    async def search(
        self, terms: Terms, limit: int, *, scope: str | None, roles: tuple[str, ...]
    ) -> tuple[TranscriptRow, ...]:
        """The lines of these roles that fit the terms best, best first; of every scope for None."""
        ...

    async def speakers(self, address: Address, since: datetime) -> frozenset[str]:
        """Who wrote in this chat after `since`, as `str(Identity)`."""
        ...


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

    async def ending(self, suffix: str) -> tuple[ApprovalRecord, ...]:
        """Up to two whose id ends so, of any status, newest first: what a short id may mean."""
        ...

    async def set_deadline(self, approval_id: ApprovalId, deadline: datetime) -> None:
        """Only while pending."""
        ...

    async def set_alarms(
        self, approval_id: ApprovalId, remind_at: datetime | None, escalate_at: datetime | None
    ) -> None:
        """When to remind and when to ask others; None for done or never."""
        ...

    async def vote(self, approval_id: ApprovalId, vote: Vote, ruling: Ruling) -> Voted:
        """Add a vote while pending; the one that completes the quorum writes `ruling`, in one transaction.

        Only votes for the record's own digest count, each person once.
        """
        ...

    async def withdraw_votes(self, approval_id: ApprovalId, persons: frozenset[str]) -> None:
        """Take votes back, only while pending."""
        ...

    async def plan_copy(self, approval_id: ApprovalId, address: Address) -> None:
        """A card is about to be sent there: after a crash it may stand there, nobody knows where."""
        ...

    async def place_copy(self, approval_id: ApprovalId, address: Address, ref: MessageRef | None) -> None:
        """The planned card stands at `ref` now; None: it was not sent."""
        ...

    async def add_copy(self, approval_id: ApprovalId, ref: MessageRef) -> None:
        """A card that was not planned here was found."""
        ...

    async def copy_ended(self, approval_id: ApprovalId, ref: MessageRef) -> None:
        """The card that stands there shows its end now."""
        ...

    async def unended(self, since: datetime) -> tuple[ApprovalRecord, ...]:
        """Closed after `since`, with a card somewhere that does not show it yet; oldest first."""
        ...

    async def decide(self, approval_id: ApprovalId, ruling: Ruling) -> ApprovalRecord | None:
        """The atomic claim pending → decided. None if somebody was first (read it with `get`)."""
        ...

    async def explain(self, approval_id: ApprovalId, answer: str) -> None:
        """Add what became of a call that was edited, once that is known; its cards do not show it yet."""
        ...

    async def use(self, approval_id: ApprovalId) -> bool:
        """approved → used, once. False if it is in any other state."""
        ...

    async def last_decision(self) -> int:
        """The highest `decision_seq` so far, 0 before the first."""
        ...

    async def decided_after(self, seq: int) -> tuple[ApprovalRecord, ...]:
        """Decided and voted on with a `decision_seq` above `seq`, in order: to hear of another process."""
        ...


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


class Outbox(Protocol):
    async def put(self, rows: tuple[OutboxRow, ...], ends: TurnEnd | None = None) -> tuple[OutboxRow, ...]:
        """Insert those whose (source, part) is new; returns all of them as stored, in order.

        `ends` is the turn that ends with them: both or neither, and one that is over stays as it ended.
        """
        ...

    async def put_to_send(
        self, rows: tuple[OutboxRow, ...], ends: TurnEnd | None = None
    ) -> tuple[tuple[OutboxRow, ...], bool]:
        """Like `put`, of rows to one address (one at least), the first of which may be sent at once.

        True: it is new, nothing unsent stands before it, and it is marked `sending`.
        """
        ...

    async def due(self, now: datetime, limit: int) -> tuple[OutboxRow, ...]:
        """Queued rows whose time has come, oldest first, at most one (the oldest unsent) per address."""
        ...

    async def has_unsent(self, address: Address) -> bool: ...

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

    async def sent(
        self, row_id: int, message_id: str, shown: TranscriptRow, *, take_next: bool = False
    ) -> OutboxRow | None:
        """It was delivered, and is a line of the transcript: both or neither.

        With `take_next` the oldest unsent row at its address, if it is due by `shown.at`, is marked `sending`
        and returned.
        """
        ...

    async def revive(self, row_id: int, now: datetime) -> bool:
        """Queue a dead row again, its tries counted anew. False if it is not dead."""
        ...

    async def drop(self, row_id: int) -> bool:
        """Forget a dead row. False if it is not dead."""
        ...

    async def recover(self) -> tuple[OutboxRow, ...]:
        """Rows left `sending` by a crash become `unknown`; returns them."""
        ...

    async def list(self, state: OutboxState, limit: int) -> tuple[OutboxRow, ...]: ...

    async def of_turn(self, turn_id: TurnId) -> tuple[OutboxRow, ...]:
        """All that a turn said, in order."""
        ...


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
    @property
    def usage(self) -> Usage: ...
    @property
    def summaries(self) -> Summaries: ...
    @property
    def memories(self) -> Memories: ...
    @property
    def mcp(self) -> McpDefinitions: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def checkpoints(self) -> Checkpoints: ...
    @property
    def workflows(self) -> Workflows: ...
    @property
    def tasks(self) -> Tasks: ...
    @property
    def moves(self) -> Moves: ...
    @property
    def retention(self) -> Retention: ...

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def info(self) -> StoreInfo: ...
