"""A run in a container of its own: its streams over the engine's connection, its end with the container's."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack, suppress
from typing import Literal

import structlog

from echo_bot.execution.engine import Attached, Engine, EngineError
from echo_bot.execution.members import is_limit_code
from echo_bot.execution.protocol import Chunk, Limits, LostError
from echo_bot.execution.stream import Stream

log = structlog.get_logger(__name__)

_FRAME_HEAD = 8
_END_SECONDS = 30.0


class Frames:
    """The engine's framing: one byte for the stream, three of nothing, four for the length, then the data."""

    def __init__(self) -> None:
        self._head = b""
        self._left = 0
        self._name: Literal["stdout", "stderr"] = "stdout"

    def feed(self, data: bytes) -> list[Chunk]:
        """Pieces of frames as they come; heads may be split anywhere."""
        chunks: list[Chunk] = []
        while data:
            if self._left == 0:
                needed = _FRAME_HEAD - len(self._head)
                self._head, data = self._head + data[:needed], data[needed:]
                if len(self._head) == _FRAME_HEAD:
                    self._name = "stderr" if self._head[0] == 2 else "stdout"
                    self._left, self._head = int.from_bytes(self._head[4:]), b""
                continue
            piece, data = data[: self._left], data[self._left :]
            self._left -= len(piece)
            chunks.append(Chunk(self._name, piece))
        return chunks


class ContainerStream(Stream):
    """Reads, writes and waits in tasks of its own, which `close` ends."""

    def __init__(self, engine: Engine, container: str, attached: Attached, *, has_input: bool) -> None:
        super().__init__()
        self._engine, self._container, self._attached = engine, container, attached
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._takes_input = has_input
        self._inputs: asyncio.Queue[tuple[bytes, asyncio.Future[None]] | None] = asyncio.Queue()
        name = f"container {container[:12]}"
        self._reader = asyncio.create_task(self._read(), name=f"{name} output")
        self._others = [
            asyncio.create_task(self._wait(), name=f"{name} end"),
            asyncio.create_task(self._type(), name=f"{name} input"),
        ]

    def feed(self, data: bytes) -> bool:
        return self._give(data) is not None

    async def write(self, data: bytes) -> None:
        given = self._give(data)
        if given is None:
            raise BrokenPipeError("the process takes no more input")
        await given

    def close_stdin(self) -> None:
        if self._takes_input:
            self._takes_input = False
            self._inputs.put_nowait(None)

    def cut(self) -> None:
        self._reader.cancel()
        self.finish()

    def pause_reading(self) -> None:
        self._flowing.clear()

    def resume_reading(self) -> None:
        self._flowing.set()

    async def close(self) -> None:
        tasks = (self._reader, *self._others)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        self._refuse_input()
        if self.exited.done() and not self.exited.cancelled():
            self.exited.exception()  # looked at: nobody may have waited for it

    def _give(self, data: bytes) -> asyncio.Future[None] | None:
        if not self._takes_input or self.exited.done():
            return None
        given = asyncio.get_running_loop().create_future()
        given.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._inputs.put_nowait((data, given))
        return given

    async def _read(self) -> None:
        frames = Frames()
        try:
            while data := await self._attached.read():
                for chunk in frames.feed(data):
                    self.take_in(chunk)
                await self._flowing.wait()
        except EngineError as error:
            log.debug("container_output_broke_off", error=str(error))
        self.finish()

    async def _wait(self) -> None:
        try:
            self.set_exited(await self._engine.wait(self._container))
        except EngineError as error:
            self.exited.set_exception(LostError(str(error)))

    async def _type(self) -> None:
        while (item := await self._inputs.get()) is not None:
            data, given = item
            try:
                await self._attached.write(data)
            except BrokenPipeError as error:
                given.set_exception(error)
                self._takes_input = False
                self._refuse_input()
                return
            given.set_result(None)
        self._attached.end_input()

    def _refuse_input(self) -> None:
        while not self._inputs.empty():
            item = self._inputs.get_nowait()
            if item is not None and not item[1].done():
                item[1].set_exception(BrokenPipeError("the process takes no more input"))


class ContainerMembers:
    """Everything in the container but its first process, which takes no signals and ends with the command.

    `left` gets the container when it could not be removed.
    """

    ends_with_first = True

    def __init__(
        self, engine: Engine, container: str, stream: ContainerStream, kept: AsyncExitStack, left: set[str]
    ) -> None:
        self._engine, self._container, self._stream, self._kept = engine, container, stream, kept
        self._left = left

    async def signal(self, number: int) -> bool:
        """Sent from inside, to all of them at once; False as well where that cannot be done."""
        if self._stream.exited.done():
            return False
        try:
            command = ["/bin/sh", "-c", f"kill -{number} -1"]
            return await self._engine.run_inside(self._container, command) == 0
        except EngineError as error:
            log.debug("container_not_signalled", error=str(error))
            return False

    async def use_too_much(self, limits: Limits) -> bool:
        """The engine sees to it."""
        return False

    async def any_left(self) -> bool:
        return not self._stream.exited.done()

    async def kill(self) -> None:
        try:
            await self._engine.kill(self._container)
        except EngineError as error:
            raise LostError(str(error)) from error
        await asyncio.wait({self._stream.exited}, timeout=_END_SECONDS)
        if not self._stream.exited.done():
            raise LostError("the container engine did not end a container")

    async def hit_limit(self, code: int) -> bool:
        """Of the first process itself the engine knows whether the kernel ended it for memory."""
        if code != 128 + signal.SIGKILL:
            return is_limit_code(code)
        try:
            return bool((await self._engine.state(self._container)).get("OOMKilled"))
        except EngineError:
            return False

    async def forget(self) -> None:
        await self._stream.close()
        try:
            await self._engine.remove(self._container)
        except EngineError as error:
            self._left.add(self._container)
            log.warning("container_left", container=self._container[:12], error=str(error))
        with suppress(EngineError):
            await self._kept.aclose()
