"""Which processes belong to one run: on the host by descent, session and mark; in the sandbox by descent."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from echo_bot.execution.proctree import Process, ProcessKey, carries, descendants, key

MARK_NAME = "ECHO_BOT_RUN"
"""Environment name by which a process on the host is known also after it left its parent and session."""


class Group(Protocol):
    """`members` are asked to end; `everyone` is ended by force. Both remember whom they saw.

    `ends_with_first`: the kernel ends them all when the first process ends.
    """

    ends_with_first: bool

    def members(self, processes: Mapping[int, Process]) -> list[Process]: ...

    def everyone(self, processes: Mapping[int, Process]) -> list[Process]: ...


def boot_ticks() -> int:
    """Now, in the unit of `Process.started`; 0 where the system has no such clock."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return int(time.clock_gettime(clock) * os.sysconf("SC_CLK_TCK")) - 1 if clock is not None else 0


class HostGroup:
    """The run whose first process is `root`. Nothing started before `since` (ticks) can belong to it.

    `bears` tells whether a process was started with the mark.
    """

    ends_with_first = False

    def __init__(
        self, root: int, mark: str, since: int, bears: Callable[[Process, bytes], bool] = carries
    ) -> None:
        self._bears = bears
        self._root = root
        self._mark = f"{MARK_NAME}={mark}".encode()
        self._since = since
        self._known: set[ProcessKey] = set()

    def members(self, processes: Mapping[int, Process]) -> list[Process]:
        recent = [process for process in processes.values() if process.started >= self._since]
        first = {process.pid: process for process in recent if self._owns(process)}
        first.update({process.pid: process for process in descendants(processes, first)})
        self._known = {key(process) for process in first.values()}
        return list(first.values())

    everyone = members

    def _owns(self, process: Process) -> bool:
        return (
            self._root in (process.pid, process.session, process.group)
            or key(process) in self._known
            or self._bears(process, self._mark)
        )


class SandboxGroup:
    """The run under the bwrap process `root`, whose only child is the namespace's first process.

    That child carries the mark as bwrap does: if bwrap is killed before the child has asked to die with it,
    the mark is all that leads to it.
    """

    ends_with_first = True

    def __init__(self, root: int, mark: str, since: int) -> None:
        self._root = root
        self._mark = f"{MARK_NAME}={mark}".encode()
        self._since = since
        self._known: set[ProcessKey] = set()

    def members(self, processes: Mapping[int, Process]) -> list[Process]:
        """What runs inside: neither bwrap nor the namespace's first process, which takes no polite signal."""
        below = descendants(processes, [self._root])
        self._known.update(key(process) for process in below)
        return [process for process in below if process.parent != self._root]

    def everyone(self, processes: Mapping[int, Process]) -> list[Process]:
        recent = [process for process in processes.values() if process.started >= self._since]
        first = {process.pid: process for process in recent if self._owns(process)}
        first.update({process.pid: process for process in descendants(processes, first)})
        self._known.update(key(process) for process in first.values())
        return list(first.values())

    def _owns(self, process: Process) -> bool:
        return process.pid == self._root or key(process) in self._known or carries(process, self._mark)
