"""The executor protocol: one command in, output streamed, an outcome. Policy has already spoken."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from echo_bot.policy.call import Executor


class LostError(Exception):
    """The way to a run broke: how it ended, or whether it did, is not known."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use. Sizes in MiB, time in CPU seconds.

    Memory and the number of processes are those of the whole run, the memory of data also that of each
    process; CPU time counts for each process and the size for each file.
    """

    memory_mb: int = 2048
    cpu_seconds: int = 300
    processes: int = 256
    file_mb: int = 1024


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One process to run. `argv[0]` is looked up on PATH; `cwd` is absolute; `env` is added to the clean one.

    `timeout_seconds` is wall-clock for the whole group. `network` False: no network where the executor can.
    `merged` sends stderr down stdout's pipe, so that their order is exact.
    """

    argv: tuple[str, ...]
    cwd: str
    timeout_seconds: float
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    network: bool = False
    merged: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Chunk:
    stream: Literal["stdout", "stderr"]
    data: bytes


KilledBy = Literal["", "timeout", "stop", "limit", "lost"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. `exit_code` is None when it was killed: `killed_by` says why.

    An end by a signal of its own is exit code 128 and its number. "lost": the way to where it ran broke.
    `appeared` are files of the workspace that make other programs run something and were not there before.
    """

    exit_code: int | None
    seconds: float
    killed_by: KilledBy = ""
    appeared: tuple[str, ...] = ()


class RunningProcess(Protocol):
    """A started process group. `kill` ends every member; awaiting `wait` twice is fine."""

    @property
    def pid(self) -> int: ...

    def output(self) -> AsyncIterator[Chunk]:
        """Chunks as they come, until both streams end. Consumed once."""
        ...

    async def write(self, data: bytes) -> None: ...

    async def close_stdin(self) -> None: ...

    async def signal(self, number: int) -> None:
        """To the whole group."""
        ...

    async def wait(self) -> Outcome: ...

    async def kill(self) -> None: ...


class ExecutorBackend(Protocol):
    """One place where commands run."""

    kind: Executor

    async def ready(self) -> tuple[bool, str]:
        """Probed by running it; the sentence says what is missing and how to get it."""
        ...

    async def start(self, spec: CommandSpec, *, keep_stdin_open: bool = False) -> RunningProcess: ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
