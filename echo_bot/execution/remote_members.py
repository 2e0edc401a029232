"""The members of a run on another computer, looked for and ended through the connection's guardian."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress

from echo_bot.execution.group import HostGroup
from echo_bot.execution.members import KILL_ROUNDS, is_limit_code
from echo_bot.execution.proctree import Process
from echo_bot.execution.protocol import Limits, LostError
from echo_bot.execution.remote_link import RemoteLink
from echo_bot.execution.stream import Stream


class RemoteMembers:
    """`pid` is the process that waits for the command; it counts for no limit."""

    ends_with_first = False

    def __init__(self, link: RemoteLink, pid: int, mark: str, stream: Stream) -> None:
        self._link, self._pid, self._mark, self._stream = link, pid, mark, stream
        self._marked: set[int] = set()
        self._group = HostGroup(pid, mark, 0, bears=lambda process, _: process.pid in self._marked)

    async def signal(self, number: int) -> bool:
        members = await self._look()
        await self._send(number, members)
        return bool(members)

    async def use_too_much(self, limits: Limits) -> bool:
        members = [process for process in await self._look() if process.pid != self._pid]
        memory = sum(process.resident_bytes for process in members)
        return len(members) > limits.processes or memory > limits.memory_mb << 20

    async def any_left(self) -> bool:
        return bool(await self._look())

    async def kill(self) -> None:
        for _ in range(KILL_ROUNDS):
            was_over = self._stream.exited.done()
            members = await self._look()
            if not members and was_over:
                return
            await self._send(signal.SIGKILL, members)
            await asyncio.sleep(0.01)

    async def hit_limit(self, code: int) -> bool:
        return is_limit_code(code)

    async def forget(self) -> None:
        self._link.runs -= 1
        with suppress(LostError):
            await self._link.ended(self._pid)

    async def _look(self) -> list[Process]:
        processes, self._marked = await self._link.look(self._mark)
        return self._group.members(processes)

    async def _send(self, number: int, members: list[Process]) -> None:
        if members:
            await self._link.kill(number, [process.pid for process in members])
