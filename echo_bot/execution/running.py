"""A started run: its output, its time and limits, and its end, which takes every member with it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from echo_bot.errors import StartError
from echo_bot.execution.group import Group
from echo_bot.execution.members import LocalMembers, Members
from echo_bot.execution.pipes import Pipes
from echo_bot.execution.protocol import Chunk, CommandSpec, KilledBy, Limits, LostError, Outcome
from echo_bot.execution.stream import Stream
from echo_bot.execution.waiter import Report

TERM_GRACE_SECONDS = 2.0
PIPE_GRACE_SECONDS = 0.5


class Running:
    """The one implementation of `RunningProcess`, wherever it runs: `stream` carries, `members` ends.

    `look_after` tells what appeared in the workspace, once all is over.
    """

    def __init__(
        self,
        pid: int,
        stream: Stream,
        members: Members,
        spec: CommandSpec,
        look_after: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.pid = pid
        self._stream = stream
        self._members = members
        self._look_after = look_after
        self._started = loop.time()
        self._stop: asyncio.Future[None] = loop.create_future()
        self._supervisor = asyncio.create_task(self._supervise(spec), name=f"run {pid}")

    def output(self) -> AsyncIterator[Chunk]:
        return self._stream.chunks()

    async def write(self, data: bytes) -> None:
        await self._stream.write(data)

    async def close_stdin(self) -> None:
        self._stream.close_stdin()

    async def signal(self, number: int) -> None:
        await self._members.signal(number)

    async def wait(self) -> Outcome:
        return await asyncio.shield(self._supervisor)

    async def kill(self) -> None:
        if not self._stop.done():
            self._stop.set_result(None)
        await self.wait()

    async def _supervise(self, spec: CommandSpec) -> Outcome:
        try:
            outcome = await self._run(spec)
        except LostError:
            outcome = Outcome(None, self._seconds(), "lost")
        finally:
            await self._members.forget()
            self._stream.cut()
        return replace(outcome, appeared=await asyncio.to_thread(self._look_after))

    async def _run(self, spec: CommandSpec) -> Outcome:
        killed_by = await self._first_end(spec)
        if killed_by:
            await self._end_members()
        outcome = Outcome(None, self._seconds(), killed_by)
        await self._settle()
        code = await self._stream.exited
        if killed_by:
            return outcome
        if await self._members.hit_limit(code):
            return replace(outcome, killed_by="limit")
        return replace(outcome, exit_code=code)

    async def _first_end(self, spec: CommandSpec) -> KilledBy:
        """Whatever comes first: its own end (""), a stop, a limit, the timeout."""
        watch = asyncio.create_task(self._watch(spec.limits))
        try:
            ends: set[asyncio.Future[int] | asyncio.Future[None]] = {self._stream.exited, self._stop, watch}
            done, _ = await asyncio.wait(
                ends,
                timeout=spec.timeout_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            watch.cancel()
        if self._stream.exited in done:
            return ""
        if self._stop in done:
            return "stop"
        return _watched(watch) if watch in done else "timeout"

    async def _watch(self, limits: Limits) -> None:
        """Returns when the members together use too much. Looks often at first: most runs are short."""
        pause = 0.25
        while True:
            await asyncio.sleep(pause)
            if await self._members.use_too_much(limits):
                return
            pause = min(pause * 1.5, 2.0)

    async def _end_members(self) -> None:
        """SIGTERM, up to two seconds, then SIGKILL until nobody is left."""
        self._stream.shed()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + TERM_GRACE_SECONDS
        left = await self._members.signal(signal.SIGTERM)
        await self._members.signal(signal.SIGCONT)
        while left and loop.time() < deadline:
            await asyncio.sleep(0.02)
            left = await self._members.signal(0)
        await self._members.kill()

    async def _settle(self) -> None:
        """What the run left behind gets a moment to finish writing, then ends with it; so does the output."""
        await asyncio.wait({self._stream.drained}, timeout=PIPE_GRACE_SECONDS)
        if self._members.ends_with_first and self._stream.drained.done():
            return
        if await self._members.any_left():
            await self._end_members()
            await asyncio.wait({self._stream.drained}, timeout=PIPE_GRACE_SECONDS)

    def _seconds(self) -> float:
        return asyncio.get_running_loop().time() - self._started


def _watched(watch: asyncio.Task[None]) -> Literal["limit"]:
    """Raises what the watching met: of a run that cannot be watched nothing is known any more."""
    watch.result()
    return "limit"


async def spawn(
    argv: Sequence[str],
    spec: CommandSpec,
    make_group: Callable[[int], Group],
    *,
    env: Mapping[str, str],
    cwd: str,
    pass_fds: Sequence[int] = (),
    keep_stdin_open: bool = False,
    report: Report | None = None,
    look_after: Callable[[], tuple[str, ...]] = tuple,
) -> Running:
    """Start `argv` in a session of its own and supervise it. Raises StartError when it cannot be started.

    With a `report` it is a waiter's; it is closed at the end of the run.
    """
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
            pass_fds=(*pass_fds, *(report.passed if report else ())),
            preexec_fn=report.prepare if report else None,
            start_new_session=True,
        )
    except BaseException as error:
        if report is not None:
            report.close()
        if isinstance(error, OSError | ValueError):
            raise StartError(f"{argv[0]} could not be started in {cwd}: {error}") from error
        raise
    if report is not None:
        report.follow(pipes, transport)
    pid = transport.get_pid() or 0
    running = Running(pid, pipes, LocalMembers(pid, make_group(pid), pipes, report), spec, look_after)
    begin_input(pipes, spec, has_input=has_input, keep_stdin_open=keep_stdin_open)
    return running


def begin_input(stream: Stream, spec: CommandSpec, *, has_input: bool, keep_stdin_open: bool) -> None:
    """Give the command what it reads first."""
    if has_input:
        stream.feed(spec.stdin)
        if not keep_stdin_open:
            stream.close_stdin()
