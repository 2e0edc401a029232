"""Changes of files as one unit: planned as values, previewed as a diff, carried out all or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from echo_bot.files import Admitted, FileDoor, FileRefusal, Written
from echo_bot.files.checkpoints import FileWrite, Kept
from echo_bot.files.identity import ABSENT, identity_of_bytes
from echo_bot.policy.call import BoundFile
from echo_bot.policy.guards.paths import shown
from echo_bot.tools.base import ToolExecutionContext, ToolResult
from echo_bot.tools.builtin.diffs import unified_diff
from echo_bot.tools.builtin.workspace import Preview, Workspace, refused


@dataclass(frozen=True, slots=True)
class Change:
    """One file's bytes before and after, None where there are none; `expected`: the identity planned on."""

    target: Admitted
    before: bytes | None
    after: bytes | None
    expected: str


@dataclass(frozen=True, slots=True)
class Shown:
    """How a change looks on a card: texts, and the name it moves to."""

    path: str
    before: str | None
    after: str | None
    new_path: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a call would do: `changes` to carry out, `diffs` to show, `summary` to say afterwards."""

    changes: tuple[Change, ...]
    diffs: tuple[Shown, ...]
    summary: str


def preview_of(plan: Plan | FileRefusal) -> Preview:
    if isinstance(plan, FileRefusal):
        return Preview(problem=plan.sentence)
    texts = (
        unified_diff(diff.before, diff.after, shown(diff.path), shown(diff.new_path)) for diff in plan.diffs
    )
    bound = tuple(BoundFile(change.target.path.real, change.expected) for change in plan.changes)
    return Preview("".join(texts), bound)


async def result_of(
    plan: Plan | FileRefusal, door: FileDoor, workspace: Workspace, ctx: ToolExecutionContext | None
) -> ToolResult:
    """Keep what the files hold, carry it out and say so."""
    if isinstance(plan, FileRefusal):
        return refused(plan)
    kept = await workspace.keep(ctx, [_write_of(change) for change in plan.changes])
    if isinstance(kept, ToolResult):
        return kept
    refusal = await asyncio.to_thread(carry_out, plan.changes, door)
    if refusal is not None:
        await workspace.forget(kept)
        return refused(refusal)
    return ToolResult(True, output=f"{plan.summary}{_left_out(kept)}")


def _write_of(change: Change) -> FileWrite:
    is_whole = change.before is not None or change.expected == ABSENT
    return FileWrite(change.target.path.real, change.before, change.after, is_whole)


def _left_out(kept: Kept) -> str:
    """For the model, and through it for people."""
    if not kept.left_out:
        return ""
    names = ", ".join(shown(path) for path in kept.left_out)
    return f" (/undo cannot take this back: {names} was too large to keep)"


def carry_out(changes: Sequence[Change], door: FileDoor) -> FileRefusal | None:
    """Writes first, then removals; on the first refusal everything done so far is put back."""
    done: list[tuple[Change, Written]] = []
    for change in sorted(changes, key=lambda change: change.after is None):
        result = _one(change, door)
        if isinstance(result, FileRefusal):
            for earlier, written in reversed(done):
                _undo(earlier, written, door)
            return result
        done.append((change, result))
    return None


def _one(change: Change, door: FileDoor) -> Written | FileRefusal:
    if change.after is None:
        return door.remove(change.target, change.expected)
    return door.write(change.target, change.after, change.expected)


def _undo(change: Change, written: Written, door: FileDoor) -> None:
    """Only where nobody else changed the file meanwhile."""
    now = ABSENT if change.after is None else identity_of_bytes(change.after)
    if change.before is None:
        door.remove(change.target, now)
        door.remove_folders(written.made_folders)
    else:
        door.write(change.target, change.before, now)
