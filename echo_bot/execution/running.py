"""A started run: its output, its time and limits, and its end, which takes every member with it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Literal

from echo_bot.errors import StartError
from echo_bot.execution.group import Group
from echo_bot.execution.pipes import Pipes
from echo_bot.execution.proctree import Process, read_processes, send
from echo_bot.execution.protocol import Chunk, CommandSpec, Limits, Outcome
from echo_bot.execution.usage import over_limit

TERM_GRACE_SECONDS = 2.0
PIPE_GRACE_SECONDS = 0.5
_KILL_ROUNDS = 100
_LIMIT_SIGNALS = {int(signal.SIGXCPU), int(signal.SIGXFSZ)}

KilledBy = Literal["", "timeout", "stop", "limit"]


class Running:
    """The one implementation of `RunningProcess`; what is a member is the `group`'s knowledge."""

    def __init__(
        self, transport: asyncio.SubprocessTransport, pipes: Pipes, group: Group, spec: CommandSpec
    ) -> None:
        loop = asyncio.get_running_loop()
        self._transport = transport
        self._pipes = pipes
        self._group = group
        self._started = loop.time()
        self._stop: asyncio.Future[None] = loop.create_future()
        self._supervisor = asyncio.create_task(self._supervise(spec), name=f"run {transport.get_pid()}")

    @property
    def pid(self) -> int:
        return self._transport.get_pid() or 0

    def output(self) -> AsyncIterator[Chunk]:
        return self._pipes.chunks()

    async def write(self, data: bytes) -> None:
        await self._pipes.write(data)

    async def close_stdin(self) -> None:
        self._pipes.close_stdin()

    async def signal(self, number: int) -> None:
        self._send(await asyncio.to_thread(self._survey, self._group.members), number)

    async def wait(self) -> Outcome:
        return await asyncio.shield(self._supervisor)

    async def kill(self) -> None:
        if not self._stop.done():
            self._stop.set_result(None)
        await self.wait()

    async def _supervise(self, spec: CommandSpec) -> Outcome:
        killed_by = await self._first_end(spec)
        if killed_by:
            await self._end_members()
        seconds = asyncio.get_running_loop().time() - self._started
        await self._settle()
        code = await self._pipes.exited
        if not killed_by and _is_limit_signal(code):
            killed_by = "limit"
        return Outcome(exit_code=None if killed_by else code, seconds=seconds, killed_by=killed_by)

    async def _first_end(self, spec: CommandSpec) -> KilledBy:
        """Whatever comes first: its own end (""), a stop, a limit, the timeout."""
        watch = asyncio.create_task(self._watch(spec.limits))
        try:
            ends: set[asyncio.Future[int] | asyncio.Future[None]] = {self._pipes.exited, self._stop, watch}
            done, _ = await asyncio.wait(
                ends,
                timeout=spec.timeout_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            watch.cancel()
        if self._pipes.exited in done:
            return ""
        if self._stop in done:
            return "stop"
        return "limit" if watch in done else "timeout"

    async def _watch(self, limits: Limits) -> None:
        """Returns when the members together use too much. Looks often at first: most runs are short."""
        pause = 0.25
        while True:
            await asyncio.sleep(pause)
            members = await asyncio.to_thread(self._survey, self._group.members)
            if await asyncio.to_thread(over_limit, members, limits):
                return
            pause = min(pause * 1.5, 2.0)

    async def _end_members(self) -> None:
        """SIGTERM, up to two seconds, then SIGKILL until nobody is left."""
        members = await asyncio.to_thread(self._survey, self._group.members)
        self._send(members, signal.SIGTERM)
        self._send(members, signal.SIGCONT)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + TERM_GRACE_SECONDS
        while members and loop.time() < deadline:
            await asyncio.sleep(0.02)
            members = await asyncio.to_thread(self._survey, self._group.members)
        await self._kill_everyone()

    async def _kill_everyone(self) -> None:
        for _ in range(_KILL_ROUNDS):
            was_over = self._pipes.exited.done()  # before looking: until then it may still fork
            everyone = await asyncio.to_thread(self._survey, self._group.everyone)
            if not everyone and was_over:
                return
            self._send(everyone, signal.SIGKILL)
            await asyncio.sleep(0.01)

    async def _settle(self) -> None:
        """What the run left behind gets a moment to finish writing, then ends with it; so does the output."""
        await asyncio.wait({self._pipes.drained}, timeout=PIPE_GRACE_SECONDS)
        if self._group.ends_with_first and self._pipes.drained.done():
            left: list[Process] = []
        else:
            left = await asyncio.to_thread(self._survey, self._group.everyone)
        if left:
            await self._end_members()
            await asyncio.wait({self._pipes.drained}, timeout=PIPE_GRACE_SECONDS)
        self._pipes.cut()

    def _survey(self, select: Callable[[Mapping[int, Process]], list[Process]]) -> list[Process]:
        own = os.getpid()
        return [process for process in select(read_processes()) if process.pid != own]

    def _send(self, members: Sequence[Process], number: int) -> None:
        if members:
            send(members, number)
        elif not self._pipes.exited.done() and self.pid:  # no /proc here, or nothing started inside yet
            try:
                os.killpg(self.pid, number)
            except ProcessLookupError:
                pass


def _is_limit_signal(code: int) -> bool:
    """Ended by the kernel for CPU time or file size: as a signal, or as a shell reports one."""
    return -code in _LIMIT_SIGNALS or code - 128 in _LIMIT_SIGNALS


async def spawn(
    argv: Sequence[str],
    spec: CommandSpec,
    make_group: Callable[[int], Group],
    *,
    env: Mapping[str, str],
    cwd: str,
    pass_fds: Sequence[int] = (),
    keep_stdin_open: bool = False,
) -> Running:
    """Start `argv` in a session of its own and supervise it. Raises StartError when it cannot be started."""
    has_input = keep_stdin_open or bool(spec.stdin)
    try:
        transport, pipes = await asyncio.get_running_loop().subprocess_exec(
            lambda: Pipes(open_streams=1 if spec.merged else 2),
            *argv,
            stdin=asyncio.subprocess.PIPE if has_input else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT if spec.merged else asyncio.subprocess.PIPE,
            cwd=cwd,
            env=dict(env),
            pass_fds=tuple(pass_fds),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise StartError(f"{argv[0]} could not be started in {cwd}: {error}") from error
    running = Running(transport, pipes, make_group(transport.get_pid() or 0), spec)
    pipes.feed(spec.stdin)
    if has_input and not keep_stdin_open:
        pipes.close_stdin()
    return running
