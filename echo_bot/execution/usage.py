"""Does a run use too much together? What no per-process limit can say."""

from __future__ import annotations

from collections.abc import Sequence

from echo_bot.execution.proctree import Process
from echo_bot.execution.protocol import Limits

_MIB = 1 << 20


def over_limit(members: Sequence[Process], limits: Limits) -> bool:
    """More processes or more memory than allowed. Shared pages are counted once before anyone is ended."""
    allowed = limits.memory_mb * _MIB
    return len(members) > limits.processes or (
        sum(process.resident_bytes for process in members) > allowed
        and sum(map(_proportional_bytes, members)) > allowed
    )


def _proportional_bytes(process: Process) -> int:
    """Memory with shared pages divided among their users; the resident size where that cannot be read."""
    try:
        with open(f"/proc/{process.pid}/smaps_rollup", encoding="ascii") as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return process.resident_bytes
