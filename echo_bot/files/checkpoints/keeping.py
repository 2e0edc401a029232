"""Keeping: the earlier content of a file is stored before it is written, bounded in size and age."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from echo_bot.errors import StorageError
from echo_bot.events import SessionKey, TurnId
from echo_bot.files.checkpoints.blobs import Blobs, digest_of
from echo_bot.storage.checkpoint_record import Checkpoint, Checkpoints

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class CheckpointLimits:
    """`checkpoints.*` of the configuration."""

    retention_days: int = 7
    max_total_mb: int = 512
    max_file_mb: int = 50


@dataclass(frozen=True, slots=True)
class FileWrite:
    """A write that is about to happen: the real path, and the contents, None for no file.

    `is_whole` False: there is a file, too large to have been read.
    """

    path: str
    before: bytes | None
    after: bytes | None
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class Kept:
    """What was kept of some writes: rows of checkpoints; `left_out` are the paths of files too large."""

    ids: tuple[int, ...]
    left_out: tuple[str, ...] = ()


class Keeper:
    """Keeps checkpoints in the store, their contents in `blobs`."""

    def __init__(
        self, rows: Checkpoints, blobs: Blobs, limits: CheckpointLimits, clock: Callable[[], datetime]
    ) -> None:
        self._rows, self._blobs, self._limits, self._clock = rows, blobs, limits, clock
        self._written_since = 0

    async def keep(self, session_key: SessionKey, turn_id: TurnId, writes: Sequence[FileWrite]) -> Kept:
        """Must return before the first of the writes. Raises StorageError, also where the disk is full."""
        most = self._limits.max_file_mb * _MIB
        changing = [write for write in writes if not write.is_whole or write.before != write.after]
        fitting = [write for write in changing if write.is_whole and len(write.before or b"") <= most]
        try:
            found = await asyncio.to_thread(self._stored, session_key, turn_id, fitting)
        except OSError as error:
            raise StorageError(f"the data folder does not take it: {error.strerror}") from error
        ids = await self._rows.add(found) if found else ()
        self._written_since += sum(checkpoint.size for checkpoint in found)
        if self._written_since > self._limits.max_total_mb * _MIB // 10:
            await self.sweep()
        return Kept(ids, tuple(write.path for write in changing if write not in fitting))

    async def drop(self, kept: Kept) -> None:
        """The writes did not happen, or were undone."""
        await self._rows.drop(kept.ids)

    def content(self, digest: str) -> bytes | None:
        return self._blobs.get(digest)

    async def sweep(self) -> int:
        """Drop what is too old or too much, whole turns at a time; returns how many rows went."""
        self._written_since = 0
        newest_first = await self._rows.newest_first()
        oldest = self._clock() - timedelta(days=self._limits.retention_days)
        gone = frozenset(too_much(newest_first, oldest, self._limits.max_total_mb * _MIB))
        dropped = await self._rows.drop(tuple(gone)) if gone else 0
        wanted = frozenset(each.before for each in newest_first if each.id not in gone)
        await asyncio.to_thread(self._blobs.sweep, wanted)
        return dropped

    def _stored(
        self, session_key: SessionKey, turn_id: TurnId, writes: Sequence[FileWrite]
    ) -> tuple[Checkpoint, ...]:
        return tuple(
            Checkpoint(
                session_key=session_key,
                turn_id=turn_id,
                path=write.path,
                before="" if write.before is None else self._blobs.put(write.before),
                after=digest_of(write.after),
                at=self._clock(),
                size=len(write.before or b""),
                mode=_mode_of(write.path),
                made_folders=missing_folders(write.path),
            )
            for write in writes
        )


def too_much(newest_first: Sequence[Checkpoint], oldest: datetime, room: int) -> Iterator[int]:
    """The ids to drop: of every turn that is older or, with all newer ones, takes more than the room."""
    seen: set[str] = set()
    turns: dict[TurnId, list[Checkpoint]] = {}
    for checkpoint in newest_first:
        turns.setdefault(checkpoint.turn_id, []).append(checkpoint)
    for of_turn in turns.values():
        fresh = {each.before: each.size for each in of_turn if each.before and each.before not in seen}
        room -= sum(fresh.values())
        if room < 0 or of_turn[0].at < oldest:
            yield from (each.id for each in of_turn)
        else:
            seen |= fresh.keys()


def missing_folders(path: str) -> tuple[str, ...]:
    """The folders above that are not there, outermost first."""
    missing: list[str] = []
    folder = os.path.dirname(path)
    while folder not in ("", "/") and not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return tuple(reversed(missing))


def _mode_of(path: str) -> int:
    try:
        return stat.S_IMODE(os.lstat(path).st_mode)
    except OSError:
        return 0
