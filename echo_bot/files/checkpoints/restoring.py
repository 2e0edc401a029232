"""Restoring: a file is put back as a whole, and only while it is as the bot left it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from echo_bot.files.checkpoints.blobs import digest_of
from echo_bot.files.door import FileDoor
from echo_bot.files.results import Admitted, FileContent, FileRefusal, Written
from echo_bot.storage.checkpoint_record import Checkpoint
from echo_bot.text.language import N_

ContentOf = Callable[[str], bytes | None]
"""A kept content by its digest; None when it is gone."""


class Outcome(StrEnum):
    RESTORED = "put back"
    REMOVED = "removed"
    RECREATED = "created again"
    UNCHANGED = "already as it was"
    LEFT = "left alone"


@dataclass(frozen=True, slots=True)
class FileUndo:
    """All of one turn's writes to one file as a single step back, from `after` to `before`.

    `is_broken`: somebody else changed the file between two of the writes.
    """

    path: str
    before: str
    after: str
    mode: int
    made_folders: tuple[str, ...] = ()
    is_broken: bool = False


@dataclass(frozen=True, slots=True)
class Undone:
    """What became of one file; `why` is a sentence where it was left alone."""

    undo: FileUndo
    outcome: Outcome
    why: str = ""


def undos_of(checkpoints: Sequence[Checkpoint]) -> tuple[FileUndo, ...]:
    """The checkpoints of one turn, oldest first, as one step for each file, in the order of first writes."""
    found: dict[str, FileUndo] = {}
    for each in checkpoints:
        known = found.get(each.path)
        if known is None:
            found[each.path] = FileUndo(each.path, each.before, each.after, each.mode, each.made_folders)
        else:
            broken = known.is_broken or known.after != each.before
            found[each.path] = FileUndo(
                each.path, known.before, each.after, known.mode, known.made_folders, broken
            )
    return tuple(found.values())


def carry_out(undo: FileUndo, door: FileDoor, content_of: ContentOf, *, dry: bool = False) -> Undone:
    """Put one file back, or say why not. With `dry`, nothing is changed. Blocks."""
    admitted = door.admit(undo.path, "/", "write")
    if isinstance(admitted, FileRefusal):
        return Undone(undo, Outcome.LEFT, admitted.sentence)
    if admitted.path.real != undo.path:
        return Undone(undo, Outcome.LEFT, N_("a link stands on its way now."))
    now = door.read(admitted)
    if isinstance(now, FileRefusal) and now.kind != "not_found":
        return Undone(undo, Outcome.LEFT, now.sentence)
    content = now if isinstance(now, FileContent) else None
    digest = digest_of(content.data if content else None)
    if digest == undo.before:
        return Undone(undo, Outcome.UNCHANGED)
    if undo.is_broken or digest != undo.after:
        return Undone(undo, Outcome.LEFT, N_("it was changed since the bot wrote it."))
    return _put_back(undo, door, admitted, content, content_of, dry=dry)


def _put_back(
    undo: FileUndo,
    door: FileDoor,
    admitted: Admitted,
    content: FileContent | None,
    content_of: ContentOf,
    *,
    dry: bool,
) -> Undone:
    data = content_of(undo.before) if undo.before else None
    if undo.before and data is None:
        return Undone(undo, Outcome.LEFT, N_("its earlier content is not kept any more."))
    outcome = Outcome.REMOVED if data is None else Outcome.RESTORED if content else Outcome.RECREATED
    if dry:
        return Undone(undo, outcome)
    result = _written(door, admitted, data, content, undo.mode)
    if isinstance(result, FileRefusal):
        return Undone(undo, Outcome.LEFT, result.sentence)
    if data is None:
        door.remove_folders(undo.made_folders)
    return Undone(undo, outcome)


def _written(
    door: FileDoor, admitted: Admitted, data: bytes | None, content: FileContent | None, mode: int
) -> Written | FileRefusal:
    """Only in place of exactly what was looked at."""
    if content is None:
        return door.create(admitted, data or b"", mode)
    if data is None:
        return door.remove(admitted, content.identity)
    return door.write(admitted, data, content.identity)
