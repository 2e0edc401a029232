"""A child's pipes: output in order of arrival, and input with back-pressure."""

from __future__ import annotations

import asyncio
from typing import cast

from echo_bot.execution.protocol import Chunk
from echo_bot.execution.stream import Stream


class Pipes(Stream, asyncio.SubprocessProtocol):
    """Collects what the child writes. `gone` is done when the child itself is no more."""

    def __init__(self, open_streams: int) -> None:
        super().__init__()
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._open_streams = open_streams
        self._writable = asyncio.Event()
        self._writable.set()
        self._transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.take_in(Chunk("stderr" if fd == 2 else "stdout", data))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 0:
            self._writable.set()
            return
        self._open_streams -= 1
        if self._open_streams == 0:
            self.finish()

    def process_exited(self) -> None:
        returncode = self._transport.get_returncode() if self._transport is not None else None
        if not self.gone.done():
            self.gone.set_result(None)
        self.set_exited(_as_shells_report(-1 if returncode is None else returncode))

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    async def write(self, data: bytes) -> None:
        if not self.feed(data):
            raise BrokenPipeError("the process takes no more input")
        await self._writable.wait()

    def feed(self, data: bytes) -> bool:
        stdin = self._stdin()
        if stdin is None or stdin.is_closing():
            return False
        stdin.write(data)
        return True

    def close_stdin(self) -> None:
        if (stdin := self._stdin()) is not None and not stdin.is_closing():
            stdin.close()

    def cut(self) -> None:
        if self._transport is not None:
            self._transport.close()
        self.finish()

    def pause_reading(self) -> None:
        for reader in self._readers():
            reader.pause_reading()

    def resume_reading(self) -> None:
        for reader in self._readers():
            reader.resume_reading()

    def _stdin(self) -> asyncio.WriteTransport | None:
        pipe = self._transport.get_pipe_transport(0) if self._transport is not None else None
        return cast(asyncio.WriteTransport | None, pipe)

    def _readers(self) -> list[asyncio.ReadTransport]:
        if self._transport is None:
            return []
        pipes = (self._transport.get_pipe_transport(fd) for fd in (1, 2))
        return [cast(asyncio.ReadTransport, pipe) for pipe in pipes if pipe and not pipe.is_closing()]


def _as_shells_report(returncode: int) -> int:
    """An end by a signal as 128 and its number, as every executor says it."""
    return returncode if returncode >= 0 else 128 - returncode
