"""What the file tools share: the workspace, the door for a call, previews, refusals as results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from echo_bot.errors import StorageError
from echo_bot.events import SessionKey, TurnId
from echo_bot.files import FileDoor, FileRefusal
from echo_bot.files.checkpoints import FileWrite, Keeper, Kept
from echo_bot.policy.call import BoundFile
from echo_bot.tools.base import ErrorKind, ToolExecutionContext, ToolResult


@dataclass(frozen=True, slots=True)
class Workspace:
    """`root` is absolute: relative paths count from it. `door` gives the opener under the rules of a call.

    `max_inline_chars` is what a result may hold before it would be spilled; reading tools page below it.
    `keeper` keeps what files hold before they are written; without one, nothing can be undone.
    """

    root: str
    door: Callable[[ToolExecutionContext | None], FileDoor]
    max_inline_chars: int = 6000
    keeper: Keeper | None = None

    async def keep(self, ctx: ToolExecutionContext | None, writes: Sequence[FileWrite]) -> Kept | ToolResult:
        """Before the first of the writes; a result where that fails, and then nothing may be written."""
        if self.keeper is None or ctx is None:
            return Kept(())
        try:
            return await self.keeper.keep(SessionKey(ctx.session_key), TurnId(ctx.trace_id), writes)
        except StorageError as error:
            why = f"nothing was written: the earlier content could not be kept for /undo ({error})"
            return ToolResult(False, error=why, error_kind="dependency")

    async def forget(self, kept: Kept) -> None:
        """The writes did not happen. A row that stays behind undoes nothing."""
        if self.keeper is not None and kept.ids:
            with suppress(StorageError):
                await self.keeper.drop(kept)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a write would do: the unified diff for the card, and the content it was made against.

    With a `problem` the call would change nothing, and it says why.
    """

    diff: str = ""
    bound_files: tuple[BoundFile, ...] = ()
    problem: str = ""


def refused(refusal: FileRefusal) -> ToolResult:
    kind: ErrorKind = "denied" if refusal.kind == "denied" else "business"
    return ToolResult(False, error=refusal.sentence, error_kind=kind)


def invalid(sentence: str) -> ToolResult:
    return ToolResult(False, error=sentence, error_kind="validation")
