"""What the tools that run code share: where they run, in which folder, how long, and how the result reads."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from echo_bot.execution.collect import Collected
from echo_bot.execution.protocol import ExecutorBackend, Limits
from echo_bot.policy.call import Executor, JsonValue
from echo_bot.tools.base import ErrorKind, ToolExecutionContext, ToolResult

MAX_TIMEOUT_SECONDS = 3600.0
_SHOWN_FILES = 10


@dataclass(frozen=True, slots=True)
class Placed:
    """What the gate decided: the executor that this call was passed for, and whether it has network."""

    executor: ExecutorBackend
    network: bool = False


@dataclass(frozen=True, slots=True)
class RunSettings:
    """`tools.exec.*` as the tools need it; `workspace` is absolute."""

    workspace: str
    timeout_seconds: float = 30
    max_output_chars: int = 2_000_000
    limits: Limits = field(default_factory=Limits)


Place = Callable[[ToolExecutionContext | None], Placed]
"""Looks up what the gate decided for this call."""

Shorten = Callable[[ToolExecutionContext | None, str, str], Awaitable[str]]
"""(context, name, text): the text to show, with the whole of a long one spilled under that name."""

OnOutput = Callable[[ToolExecutionContext | None, str], None]
"""Gets output as it comes."""

Readiness = Callable[[], tuple[bool, str]]
"""Can code run here at all, and if not, what is missing?"""


def shell(command: str) -> tuple[str, ...]:
    """Exactly the string that the guards read, by a shell that reads no start-up files."""
    return ("bash", "--noprofile", "--norc", "-c", command)


def folder_of(params: Mapping[str, JsonValue], workspace: str) -> str:
    """The absolute folder to run in; not yet looked at."""
    return os.path.normpath(os.path.join(workspace, str(params.get("cwd") or "")))


def missing_folder(folder: str, executor: ExecutorBackend) -> ToolResult | None:
    """A refusal when the folder is not there; of another computer's it is the executor that knows."""
    if executor.kind is Executor.REMOTE or os.path.isdir(folder):
        return None
    return ToolResult(
        False,
        error=f"the folder {folder} does not exist; leave cwd out to run in the workspace",
        error_kind="validation",
    )


def timeout_of(params: Mapping[str, JsonValue], default_seconds: float) -> float:
    """The call's own timeout, capped; 0 or none is the configured one."""
    asked = params.get("timeout")
    seconds = float(asked) if isinstance(asked, int | float) and asked > 0 else default_seconds
    return min(seconds, MAX_TIMEOUT_SECONDS)


async def result_of(
    collected: Collected,
    timeout_seconds: float,
    executor: ExecutorBackend,
    shorten: Callable[[str], Awaitable[str]],
) -> ToolResult:
    """Exit code and output as one text; anything but exit code 0 is no success and says why."""
    outcome = collected.outcome
    how, kind = _ending(collected, timeout_seconds)
    body = "\n".join(filter(None, (warning_of(outcome.appeared), await shorten(collected.text))))
    return ToolResult(
        success=kind is None,
        output=f"{how}\n{body}" if body else f"{how}, no output",
        error="" if kind is None else how,
        error_kind=kind,
        metadata={
            "exit_code": outcome.exit_code,
            "printed": bool(body),
            "seconds": round(outcome.seconds, 3),
            "executor": executor.kind.value,
            "killed_by": outcome.killed_by,
            "dropped_chars": collected.dropped_chars,
            "appeared": list(outcome.appeared),
        },
    )


def warning_of(appeared: tuple[str, ...]) -> str:
    """For the person who reads the result as much as for the model."""
    if not appeared:
        return ""
    names = ", ".join(map(repr, appeared[:_SHOWN_FILES])) + (" …" if len(appeared) > _SHOWN_FILES else "")
    return f"[Appeared while it ran, and makes other programs run something: {names}. Look at it before use.]"


def _ending(collected: Collected, timeout_seconds: float) -> tuple[str, ErrorKind | None]:
    outcome = collected.outcome
    if collected.is_flooded:
        return "killed: it wrote far more output than can be kept; write it to a file instead", "business"
    match outcome.killed_by:
        case "":
            return f"exit code {outcome.exit_code}", None if outcome.exit_code == 0 else "business"
        case "timeout":
            return f"killed after {timeout_seconds:g} s: the timeout was reached", "timeout"
        case "limit":
            return "killed: it used more memory, CPU time, processes or file space than allowed", "business"
        case "stop":
            return "stopped before it ended", "business"
        case "lost":
            return (
                "the connection to where it ran broke; whether it came to its end is not known",
                "dependency",
            )
        case _:
            assert_never(outcome.killed_by)
