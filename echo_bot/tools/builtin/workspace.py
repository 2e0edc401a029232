"""What the file tools share: the workspace, the door for a call, previews, refusals as results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from echo_bot.files import FileDoor, FileRefusal
from echo_bot.policy.call import BoundFile
from echo_bot.tools.base import ErrorKind, ToolExecutionContext, ToolResult


@dataclass(frozen=True, slots=True)
class Workspace:
    """`root` is absolute: relative paths count from it. `door` gives the opener under the rules of a call.

    `max_inline_chars` is what a result may hold before it would be spilled; reading tools page below it.
    """

    root: str
    door: Callable[[ToolExecutionContext | None], FileDoor]
    max_inline_chars: int = 6000


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
