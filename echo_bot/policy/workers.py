"""What a worker may be given: tools of its caller's alone, and no more depth or number than configured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from echo_bot.policy.catalogue import canonical_name

ASKING = frozenset({"clarify"})
"""Tools that only ask a person, which a worker cannot do."""

MOST_TASKS = 50
"""Workers that one call may start."""

MOST_UNFINISHED = 100
"""Workers of one conversation that may run or wait at a time."""


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """`workers.max_depth` and `workers.max_iterations`."""

    max_depth: int
    max_turns: int


def worker_tools(asked: Iterable[str] | None, callers: frozenset[str]) -> tuple[str, ...] | str:
    """The tools a worker gets, sorted, or a sentence for what it cannot have. None asks for all."""
    if asked is None:
        return tuple(sorted(callers - ASKING))
    names = tuple(dict.fromkeys(canonical_name(name) for name in asked))
    if asking := [name for name in names if name in ASKING]:
        return f"a worker cannot have {', '.join(asking)}: it asks a person, and nobody answers a worker"
    if lacking := [name for name in names if name not in callers]:
        have = ", ".join(sorted(callers - ASKING)) or "none"
        return f"a worker gets tools of its caller's alone, and {', '.join(lacking)} is none of these: {have}"
    return tuple(sorted(names))


def start_problem(*, depth: int, tasks: int, unfinished: int, limits: WorkerLimits) -> str:
    """Why no worker may be started `depth` below the conversation, as a sentence; "" when they may."""
    if depth > limits.max_depth:
        return (
            f"workers.max_depth is {limits.max_depth}, and this call comes from {depth - 1} workers deep: "
            "do the task without another one"
        )
    if tasks > MOST_TASKS:
        return f"at most {MOST_TASKS} tasks are taken at once, and these are {tasks}: put some together"
    if unfinished + tasks > MOST_UNFINISHED:
        return (
            f"{unfinished} workers run or wait for this conversation already, and {MOST_UNFINISHED} is the "
            "most: wait until some are done, or /stop them"
        )
    return ""


def turns_of(asked: int, limits: WorkerLimits) -> int:
    """How many answers a worker's model may give; 0 asks for the configured number, and more is cut."""
    return min(asked, limits.max_turns) if asked > 0 else limits.max_turns
