"""The members of a run: whom a signal reaches, what they use together, and their end by force."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from echo_bot.execution.group import Group
from echo_bot.execution.pipes import Pipes
from echo_bot.execution.proctree import Process, read_processes, send
from echo_bot.execution.protocol import Limits
from echo_bot.execution.usage import over_limit
from echo_bot.execution.waiter import Report

KILL_ROUNDS = 100
_END_SECONDS = 5.0
LIMIT_SIGNALS = frozenset({int(signal.SIGXCPU), int(signal.SIGXFSZ)})


class Members(Protocol):
    """`ends_with_first`: the end of the first process is the end of all."""

    ends_with_first: bool

    async def signal(self, number: int) -> bool:
        """To every one; True while there are any."""
        ...

    async def use_too_much(self, limits: Limits) -> bool: ...

    async def any_left(self) -> bool:
        """Is anyone left, by whatever way it belongs to the run?"""
        ...

    async def kill(self) -> None:
        """End everyone by force, until nobody is left."""
        ...

    async def hit_limit(self, code: int) -> bool:
        """Does an end with this exit code mean that a limit ended it?"""
        ...

    async def forget(self) -> None:
        """The run is over: free what was kept for it."""
        ...


def is_limit_code(code: int) -> bool:
    """Ended by the kernel for CPU time or file size, reported as a shell does."""
    return code - 128 in LIMIT_SIGNALS


class LocalMembers:
    """On this machine, found in /proc by what `group` knows.

    With a `report` the first process is a waiter: no member, ended last, and found to be over by its report.
    """

    def __init__(self, pid: int, group: Group, stream: Pipes, report: Report | None = None) -> None:
        self._pid, self._group, self._stream, self._report = pid, group, stream, report
        self.ends_with_first = group.ends_with_first

    async def signal(self, number: int) -> bool:
        members = await asyncio.to_thread(self._survey, self._group.members)
        self._send(members, number)
        return bool(members)

    async def use_too_much(self, limits: Limits) -> bool:
        members = await asyncio.to_thread(self._survey, self._group.members)
        return await asyncio.to_thread(over_limit, members, limits)

    async def any_left(self) -> bool:
        return bool(await asyncio.to_thread(self._survey, self._group.everyone))

    async def kill(self) -> None:
        for _ in range(KILL_ROUNDS):
            was_over = self._stream.exited.done()  # before looking: until then it may still fork
            everyone = await asyncio.to_thread(self._survey, self._group.everyone)
            if not everyone and was_over:
                return
            if not everyone and self._report is not None:
                self._report.end_waiter()
            self._send(everyone, signal.SIGKILL)
            await asyncio.sleep(0.01)

    async def hit_limit(self, code: int) -> bool:
        return is_limit_code(code)

    async def forget(self) -> None:
        if self._report is not None:
            self._report.close()
            self._report.end_waiter()
            await asyncio.wait({self._stream.gone}, timeout=_END_SECONDS)

    def _survey(self, select: Callable[[Mapping[int, Process]], list[Process]]) -> list[Process]:
        others = (os.getpid(), self._pid) if self._report is not None else (os.getpid(),)
        return [process for process in select(read_processes()) if process.pid not in others]

    def _send(self, members: Sequence[Process], number: int) -> None:
        if members:
            send(members, number)
        elif not self._stream.exited.done() and self._pid:  # no /proc here, or nothing started inside yet
            try:
                os.killpg(self._pid, number)
            except ProcessLookupError:
                pass
