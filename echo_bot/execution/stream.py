"""What a run writes, in order of arrival and held in bounded memory, until somebody takes it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator

from echo_bot.execution.protocol import Chunk

HIGH_BYTES = 1 << 20
LOW_BYTES = HIGH_BYTES // 2


class Stream(ABC):
    """Reading pauses while nobody takes the chunks away.

    `exited` is done when the first process ended, whoever still holds its output; `drained` when nothing more
    will come. A run of which nothing more can be known ends `exited` with a LostError.
    """

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[int] = loop.create_future()
        self.drained: asyncio.Future[None] = loop.create_future()
        self._chunks: deque[Chunk] = deque()
        self._buffered = 0
        self._paused = False
        self._sheds = False
        self._news = asyncio.Event()

    def take_in(self, chunk: Chunk) -> None:
        if self._sheds and self._buffered > HIGH_BYTES:
            return
        self._chunks.append(chunk)
        self._buffered += len(chunk.data)
        self._news.set()
        if self._buffered > HIGH_BYTES and not (self._paused or self._sheds or self.exited.done()):
            self._paused = True
            self.pause_reading()

    def set_exited(self, code: int) -> None:
        """From then on nothing is held back: what is left in the pipe is little, and its end must be seen."""
        if not self.exited.done():
            self.exited.set_result(code)
        self._go_on()

    def shed(self) -> None:
        """The run is being ended: read on, so that it is not held up, and drop what nobody takes."""
        self._sheds = True
        self._go_on()

    async def chunks(self) -> AsyncIterator[Chunk]:
        """Every chunk once, until the streams end or are cut."""
        while True:
            while self._chunks:
                chunk = self._chunks.popleft()
                self._buffered -= len(chunk.data)
                if self._buffered < LOW_BYTES:
                    self._go_on()
                yield chunk
            if self.drained.done():
                return
            self._news.clear()
            await self._news.wait()

    def finish(self) -> None:
        """Nothing more comes."""
        if not self.drained.done():
            self.drained.set_result(None)
        self._news.set()

    def _go_on(self) -> None:
        if self._paused:
            self._paused = False
            self.resume_reading()

    @abstractmethod
    def pause_reading(self) -> None: ...

    @abstractmethod
    def resume_reading(self) -> None: ...

    @abstractmethod
    def feed(self, data: bytes) -> bool:
        """Hand input over without waiting until it is taken. False when no more is taken."""

    @abstractmethod
    async def write(self, data: bytes) -> None:
        """Raises BrokenPipeError when the process takes no more input."""

    @abstractmethod
    def close_stdin(self) -> None:
        """What was written is still delivered."""

    @abstractmethod
    def cut(self) -> None:
        """Stop listening, also when somebody still holds the pipes."""
