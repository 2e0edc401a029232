"""A child's pipes: output in order of arrival, held in bounded memory, and input with back-pressure."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import cast

from echo_bot.execution.protocol import Chunk

_HIGH_BYTES = 1 << 20
_LOW_BYTES = _HIGH_BYTES // 2


class Pipes(asyncio.SubprocessProtocol):
    """Collects what the child writes. Reading pauses while nobody takes the chunks away.

    `exited` is done when the process ended, whoever still holds its pipes; `drained` when all pipes closed.
    """

    def __init__(self, open_streams: int) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[int] = loop.create_future()
        self.drained: asyncio.Future[None] = loop.create_future()
        self._open_streams = open_streams
        self._chunks: deque[Chunk] = deque()
        self._buffered = 0
        self._paused = False
        self._news = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._chunks.append(Chunk("stderr" if fd == 2 else "stdout", data))
        self._buffered += len(data)
        self._news.set()
        if self._buffered > _HIGH_BYTES and not self._paused and not self.exited.done():
            self._set_paused(True)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 0:
            self._writable.set()
            return
        self._open_streams -= 1
        if self._open_streams == 0:
            self._finish()

    def process_exited(self) -> None:
        returncode = self._transport.get_returncode() if self._transport is not None else None
        if not self.exited.done():
            self.exited.set_result(-1 if returncode is None else returncode)
        if self._paused:  # what is left in the pipe is little, and its end must be seen
            self._set_paused(False)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    async def chunks(self) -> AsyncIterator[Chunk]:
        """Every chunk once, until the streams end or are cut."""
        while True:
            while self._chunks:
                chunk = self._chunks.popleft()
                self._buffered -= len(chunk.data)
                if self._paused and self._buffered < _LOW_BYTES:
                    self._set_paused(False)
                yield chunk
            if self.drained.done():
                return
            self._news.clear()
            await self._news.wait()

    async def write(self, data: bytes) -> None:
        """Raises BrokenPipeError when the process takes no more input."""
        if not self.feed(data):
            raise BrokenPipeError("the process takes no more input")
        await self._writable.wait()

    def feed(self, data: bytes) -> bool:
        """Hand input over without waiting until it is taken. False when the process takes no more."""
        stdin = self._stdin()
        if stdin is None or stdin.is_closing():
            return False
        stdin.write(data)
        return True

    def close_stdin(self) -> None:
        """What was written is still delivered."""
        if (stdin := self._stdin()) is not None and not stdin.is_closing():
            stdin.close()

    def cut(self) -> None:
        """Stop listening, also when somebody still holds the pipes."""
        if self._transport is not None:
            self._transport.close()
        self._finish()

    def _finish(self) -> None:
        if not self.drained.done():
            self.drained.set_result(None)
        self._news.set()

    def _stdin(self) -> asyncio.WriteTransport | None:
        pipe = self._transport.get_pipe_transport(0) if self._transport is not None else None
        return cast(asyncio.WriteTransport | None, pipe)

    def _set_paused(self, paused: bool) -> None:
        self._paused = paused
        for fd in (1, 2):
            pipe = self._transport.get_pipe_transport(fd) if self._transport is not None else None
            if pipe is not None and not pipe.is_closing():
                reader = cast(asyncio.ReadTransport, pipe)
                reader.pause_reading() if paused else reader.resume_reading()
