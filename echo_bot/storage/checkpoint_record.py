"""A file as it was before a write of the bot, and what may be asked about those that are kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from echo_bot.events import SessionKey, TurnId


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One write. `before` and `after` are SHA-256 in hex of the contents, "" where there is no file.

    `path` is absolute, without links; `size` in bytes and `mode` are those of the earlier file;
    `made_folders` are the folders that the write was to make, outermost first. It belongs to the turn of a
    conversation that the writing turn goes back to.
    """

    session_key: SessionKey
    turn_id: TurnId
    path: str
    before: str
    after: str
    at: datetime
    size: int = 0
    mode: int = 0
    made_folders: tuple[str, ...] = ()
    id: int = 0


class Checkpoints(Protocol):
    """All raise StorageError and nothing else."""

    async def add(self, checkpoints: tuple[Checkpoint, ...]) -> tuple[int, ...]:
        """Keep them, with the session and the turn that began it all in the place of a worker's own."""
        ...

    async def last(self, session_key: SessionKey) -> tuple[Checkpoint, ...]:
        """Those of the turn that wrote last in the session, oldest first."""
        ...

    async def drop(self, ids: tuple[int, ...]) -> int: ...

    async def newest_first(self) -> tuple[Checkpoint, ...]: ...
