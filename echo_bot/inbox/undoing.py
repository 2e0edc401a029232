"""Undoing: what the last writing turn of a session wrote is put back, each file as a whole or not at all."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import structlog

from echo_bot.agent.noted import noted
from echo_bot.errors import StorageError
from echo_bot.events import Identity, SessionKey, TurnId
from echo_bot.files import FileDoor
from echo_bot.files.checkpoints import Keeper, Undone, carry_out, undos_of
from echo_bot.storage.checkpoint_record import Checkpoint
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import HistoryEntry

log = structlog.get_logger(__name__)

_RUNS_ELSEWHERE = frozenset(
    {"exec", "execute_code", "process", "skill_run", "delegate_task", "spawn_task", "workflow"}
)
"""Tools that may change files without a checkpoint."""

DoorOf = Callable[[Identity], Awaitable[FileDoor]]
"""The file door under the rules of a person."""


class Recorder(Protocol):
    async def record(self, kind: str, **fields: object) -> None: ...


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asks to undo, in which session; `turn_id` is the id that the request would have as a turn."""

    sender: Identity
    session_key: SessionKey
    turn_id: TurnId


@dataclass(frozen=True, slots=True)
class UndoReport:
    """What became, or would become, of each file; `uncovered` are tools of that turn whose effects stay.

    `is_noted` False: it was done, but the database took no note of it.
    """

    at: datetime
    files: tuple[Undone, ...]
    uncovered: tuple[str, ...]
    is_noted: bool = True


class Undoing:
    def __init__(
        self,
        store: Store,
        keeper: Keeper,
        door_of: DoorOf,
        audit: Recorder,
        workspace: str,
        mask: Callable[[str], str],
        clock: Callable[[], datetime],
    ) -> None:
        self._store, self._keeper, self._door_of, self._audit = store, keeper, door_of, audit
        self._workspace, self._mask, self._clock = os.path.realpath(workspace), mask, clock
        self._lock = asyncio.Lock()

    async def look(self, asked: Asked) -> UndoReport | None:
        """What `undo` would do now; None without anything to undo."""
        rows = await self._store.checkpoints.last(asked.session_key)
        return await self._carried_out(asked, rows, dry=True) if rows else None

    async def undo(self, asked: Asked) -> UndoReport | None:
        """StorageError, and then no file was changed."""
        async with self._lock:
            rows = await self._store.checkpoints.last(asked.session_key)
            if not rows:
                return None
            paths = [undo.path for undo in undos_of(rows)]
            await self._record("undo", asked, rows, files=paths)
            report = await self._carried_out(asked, rows, dry=False)
            is_noted = await self._note(asked, rows, report)
            return UndoReport(report.at, report.files, report.uncovered, is_noted)

    def name_of(self, path: str) -> str:
        """As people know it: from the workspace where it is in there."""
        inside = path.startswith(f"{self._workspace}/")
        return os.path.relpath(path, self._workspace) if inside else path

    async def _carried_out(self, asked: Asked, rows: tuple[Checkpoint, ...], *, dry: bool) -> UndoReport:
        door = await self._door_of(asked.sender)
        uncovered = await self._uncovered(rows[0].turn_id)
        done = [
            await asyncio.to_thread(carry_out, undo, door, self._keeper.content, dry=dry)
            for undo in reversed(undos_of(rows))
        ]
        return UndoReport(rows[-1].at, tuple(reversed(done)), uncovered)

    async def _note(self, asked: Asked, rows: tuple[Checkpoint, ...], report: UndoReport) -> bool:
        """For the audit and for the model; only then is the turn no more the one to undo."""
        outcomes = {done.undo.path: done.outcome.value for done in report.files}
        try:
            await self._record("undone", asked, rows, outcomes=outcomes)
            entry = HistoryEntry(asked.turn_id, noted(self._mask(self._words(report))), self._clock())
            await self._store.sessions.add_history(asked.session_key, entry)
            await self._store.checkpoints.drop(tuple(row.id for row in rows))
        except StorageError as error:
            log.error("undo_unnoted", session=asked.session_key, error=str(error))
            return False
        return True

    async def _record(self, kind: str, asked: Asked, rows: tuple[Checkpoint, ...], **fields: object) -> None:
        await self._audit.record(
            kind, by=str(asked.sender), session=asked.session_key, turn=rows[0].turn_id, **fields
        )

    async def _uncovered(self, turn_id: TurnId) -> tuple[str, ...]:
        journal = await self._store.turns.journal(turn_id)
        called = (json.loads(entry.payload).get("tool", "") for entry in journal if entry.kind == "call")
        return tuple(name for name in dict.fromkeys(called) if name in _RUNS_ELSEWHERE)

    def _words(self, report: UndoReport) -> str:
        """As the model reads it."""
        files = "; ".join(f"{self.name_of(done.undo.path)} {done.outcome}" for done in report.files)
        return f"The person took back what an earlier turn here wrote, with /undo: {files}."
