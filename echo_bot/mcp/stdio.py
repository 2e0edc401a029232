"""A server as a child process: lines of JSON both ways, a clean environment, and an end for every member."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import anyio
import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from echo_bot.execution.group import MARK_NAME, HostGroup, boot_ticks
from echo_bot.execution.protocol import CommandSpec, Limits, Outcome
from echo_bot.execution.running import Running, spawn
from echo_bot.mcp.spec import ServerSpec
from echo_bot.mcp.traffic import Budget, End, Item

log = structlog.get_logger(__name__)

MOST_LINE_BYTES = 16 * 1024 * 1024
_MOST_LOGGED = 200
_MOST_LOGGED_CHARS = 500
_LEAVING_SECONDS = 1.0
"""How long it has to end by itself once its input is closed, as the protocol wants it."""

_YEARS = 10 * 365 * 86400.0
_UNLIMITED = Limits(memory_mb=1 << 30, cpu_seconds=1 << 30, processes=1 << 20, file_mb=1 << 30)


@asynccontextmanager
async def stdio_streams(
    spec: ServerSpec,
    environment: Mapping[str, str],
    cwd: str,
    end: End,
    budget: Budget,
    mask: Callable[[str], str],
) -> AsyncIterator[TransportStreams]:
    """Start it and talk to it; at the end its whole group is gone. Raises StartError."""
    mark, since = secrets.token_hex(8), boot_ticks()
    argv = (spec.command, *spec.args)
    process = await spawn(
        argv,
        CommandSpec(argv, cwd, _YEARS, limits=_UNLIMITED),
        lambda pid: HostGroup(pid, mark, since),
        env={**environment, **spec.env, MARK_NAME: mark},
        cwd=cwd,
        keep_stdin_open=True,
    )
    to_session, read_stream = anyio.create_memory_object_stream[Item](0)
    write_stream, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    stderr = _Stderr(spec.name, mask)
    tasks = [
        asyncio.create_task(_read(process, to_session, end, budget, stderr), name=f"mcp {spec.name} out"),
        asyncio.create_task(_write(process, from_session), name=f"mcp {spec.name} in"),
    ]
    try:
        yield read_stream, write_stream
    finally:
        # A task of its own: a second cancellation must not leave the process behind.
        await asyncio.shield(asyncio.create_task(_stop(process, tasks)))
        for stream in (to_session, read_stream, write_stream, from_session):
            stream.close()


async def _stop(process: Running, tasks: list[asyncio.Task[None]]) -> None:
    await process.close_stdin()
    await asyncio.wait({asyncio.ensure_future(process.wait())}, timeout=_LEAVING_SECONDS)
    await process.kill()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _read(
    process: Running, to_session: MemoryObjectSendStream[Item], end: End, budget: Budget, stderr: _Stderr
) -> None:
    lines = Lines()
    try:
        async for chunk in process.output():
            if chunk.stream == "stderr":
                stderr.add(chunk.data)
                continue
            for line in lines.add(chunk.data):
                await _pass_on(line, to_session, budget)
            if lines.is_too_long:
                end.come(f"it wrote a line of more than {MOST_LINE_BYTES:,} bytes")
                return
        end.come(_how_it_ended(await process.wait(), stderr.last))
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return  # the session is over; the process is ended by whoever ended that
    except _TooMuch:
        end.come("it wrote too much that is no message")
    finally:
        to_session.close()


async def _pass_on(line: bytes, to_session: MemoryObjectSendStream[Item], budget: Budget) -> None:
    """A line that is no message is only noise: some servers print there what belongs to stderr."""
    if not line.strip():
        return
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        if not budget.spend():
            raise _TooMuch from None
        return
    await to_session.send(SessionMessage(message))


async def _write(process: Running, from_session: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async for outgoing in from_session:
        text = outgoing.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            await process.write(text.encode() + b"\n")
        except BrokenPipeError:
            return  # its end is noticed where its output ends


class _TooMuch(Exception):
    """More noise than anybody needs to read."""


class Lines:
    """Bytes as whole lines, each of a bounded length."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self.is_too_long = False

    def add(self, data: bytes) -> list[bytes]:
        *whole, rest = data.split(b"\n")
        if whole:
            whole[0] = bytes(self._rest) + whole[0]
            self._rest = bytearray(rest)
        else:
            self._rest += rest
        self.is_too_long = len(self._rest) > MOST_LINE_BYTES
        return [line for line in whole if len(line) <= MOST_LINE_BYTES]


class _Stderr:
    """What it says on stderr: into the log, masked, a bounded part of it. `last` is its last line."""

    def __init__(self, server: str, mask: Callable[[str], str]) -> None:
        self._server, self._mask = server, mask
        self._rest = b""
        self._logged = 0
        self.last = ""

    def add(self, data: bytes) -> None:
        *whole, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[-_MOST_LOGGED_CHARS * 4 :]
        for line in whole:
            text = self._mask(line[: _MOST_LOGGED_CHARS * 4].decode("utf-8", "replace").strip())
            if text:
                self._say(text[:_MOST_LOGGED_CHARS])

    def _say(self, text: str) -> None:
        self.last = text
        self._logged += 1
        if self._logged <= _MOST_LOGGED:
            log.info("mcp_stderr", server=self._server, line=text)
        elif self._logged == _MOST_LOGGED + 1:
            log.info("mcp_stderr_no_more", server=self._server, hint="it says more; that is not logged")


def _how_it_ended(outcome: Outcome, last_words: str) -> str:
    code = "by a signal" if outcome.exit_code is None else f"with exit code {outcome.exit_code}"
    said = f"; it said last: {last_words[:200]}" if last_words else ""
    return f"its process ended {code}{said}"
