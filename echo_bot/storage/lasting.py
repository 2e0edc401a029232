"""What is kept apart from conversations: the audit, secrets, people, small values, memories, moves.

The rules of `echo_bot.storage.protocol` hold here too; import the names from there.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from echo_bot.events import Address
from echo_bot.storage.records import (
    AuditHead,
    AuditRow,
    ChatMove,
    MemoryRecord,
    PairedSender,
    PairingCode,
    SealedValue,
)


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


class SealedValues(Protocol):
    async def put(self, value: SealedValue) -> None: ...

    async def get(self, owner: str, field: str) -> SealedValue | None: ...

    async def list(self) -> tuple[SealedValue, ...]: ...

    async def delete(self, owner: str, field: str) -> bool: ...


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

    async def cookie(self, cookie_hash: str, now: datetime) -> tuple[str, datetime] | None:
        """The identity it logs in, and until when."""
        ...

    async def drop_cookie(self, cookie_hash: str) -> bool: ...


class Values(Protocol):
    """Small pieces of state that belong to one scope: a session's todo list, a channel's cursor."""

    async def get(self, scope: str, key: str) -> str | None: ...

    async def put(self, scope: str, key: str, value: str) -> None: ...

    async def delete(self, scope: str, key: str) -> bool: ...

    async def list(self, scope: str) -> dict[str, str]: ...


class Memories(Protocol):
    """What is remembered; every call sees one scope alone."""

    async def add(self, record: MemoryRecord, most: int) -> MemoryRecord | None:
        """Keep it; None, and nothing changed, if the scope holds `most` entries already.

        What the same call wrote before, or the same words, come back as they are stored.
        """
        ...

    async def replace(
        self, scope: str, memory_id: int, content: str, *, at: datetime, by: str, turn_id: str, call_key: str
    ) -> MemoryRecord | None:
        """New words for an entry. None if there is no such entry in this scope."""
        ...

    async def remove(self, scope: str, memory_ids: tuple[int, ...]) -> int:
        """How many of them were there."""
        ...

    async def list(self, scope: str) -> tuple[MemoryRecord, ...]:
        """Oldest first."""
        ...


class Moves(Protocol):
    """Chats that got a new id."""

    async def move(self, move: ChatMove) -> int:
        """Remember it, and give all rows of the old id to the new one; how many. Again: 0."""
        ...

    async def list(self) -> tuple[tuple[Address, str], ...]:
        """Each old chat and its new id."""
        ...


class Retention(Protocol):
    async def forget_before(self, before: datetime) -> int:
        """Drop old history, transcripts, finished turns, closed questions, sent messages; how many."""
        ...
