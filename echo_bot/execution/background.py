"""Processes that go on after the call that started them: each owned by a session, ended with it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from echo_bot.errors import StartError
from echo_bot.execution.output import BoundedText, TextStream
from echo_bot.execution.protocol import CommandSpec, ExecutorBackend, Outcome, RunningProcess

MAX_RUNNING = 8
MAX_FINISHED = 20


class TooManyProcesses(StartError):
    """The session runs as many processes as it may; one has to be stopped first."""


@dataclass(slots=True)
class OwnedProcess:
    """One background process. `outcome` is None while it runs; `is_kept` lets it outlive its session.

    `typed` is what it was given since the last finished line: a guard judges the next text together with it.
    """

    process_id: str
    command: str
    process: RunningProcess
    unread: BoundedText
    outcome: Outcome | None = None
    is_kept: bool = False
    typed: str = ""
    _pump: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def is_running(self) -> bool:
        return self.outcome is None

    def take_unread(self, max_chars: int) -> str:
        """What was written since it was last asked for; of very much, its beginning and end."""
        text, self.unread = self.unread.text(), BoundedText(max_chars)
        return text

    async def ended_within(self, seconds: float) -> bool:
        """Wait so long for its end."""
        if self._pump is not None:
            await asyncio.wait({self._pump}, timeout=seconds)
        return not self.is_running

    async def write(self, text: str) -> None:
        """Raises BrokenPipeError when it takes no more input."""
        self.typed = _unfinished(self.typed + text)
        await self.process.write(text.encode("utf-8", "surrogatepass"))

    async def stop(self) -> None:
        """End every member and read what it wrote last."""
        await self.process.kill()
        if self._pump is not None:
            await asyncio.shield(self._pump)

    def watch(self) -> None:
        self._pump = asyncio.create_task(self._read(), name=f"process {self.process_id}")

    async def _read(self) -> None:
        stream = TextStream()
        async for chunk in self.process.output():
            self.unread.add(stream.feed(chunk.data))
        self.unread.add(stream.feed(b"", final=True))
        self.outcome = await self.process.wait()


class BackgroundProcesses:
    """All of them by session. A session sees its own and no others."""

    def __init__(self, *, max_output_chars: int, max_running: int = MAX_RUNNING) -> None:
        self._max_output_chars = max_output_chars
        self._max_running = max_running
        self._sessions: dict[str, dict[str, OwnedProcess]] = {}
        self._starting: dict[str, int] = {}
        self._last_number = 0

    async def start(
        self, session_key: str, backend: ExecutorBackend, spec: CommandSpec, command: str
    ) -> OwnedProcess:
        """Raises TooManyProcesses, or StartError when it cannot be started."""
        running = sum(owned.is_running for owned in self.of(session_key))
        if running + self._starting.get(session_key, 0) >= self._max_running:
            raise TooManyProcesses(
                f"{self._max_running} processes of this session are running; stop one first"
            )
        self._starting[session_key] = self._starting.get(session_key, 0) + 1
        try:
            process = await backend.start(spec, keep_stdin_open=True)
        finally:
            self._starting[session_key] -= 1
        self._last_number += 1
        owned = OwnedProcess(f"p{self._last_number}", command, process, BoundedText(self._max_output_chars))
        self._sessions.setdefault(session_key, {})[owned.process_id] = owned
        owned.watch()
        self._forget_oldest(session_key)
        return owned

    def of(self, session_key: str) -> list[OwnedProcess]:
        return list(self._sessions.get(session_key, {}).values())

    def find(self, session_key: str, process_id: str) -> OwnedProcess | None:
        return self._sessions.get(session_key, {}).get(process_id)

    def typed_before(self, process_id: str) -> str:
        """What a process was given since its last newline; ids are unique over all sessions."""
        everywhere = (owned for processes in self._sessions.values() for owned in processes.values())
        return next((owned.typed for owned in everywhere if owned.process_id == process_id), "")

    def read(self, owned: OwnedProcess) -> str:
        """What it wrote since the last reading."""
        return owned.take_unread(self._max_output_chars)

    def rename(self, old: str, new: str) -> None:
        """The sessions of a chat, whose keys begin with `old`, go on under its new key."""
        for key in [key for key in self._sessions if key == old or key.startswith(f"{old}:")]:
            self._sessions.setdefault(new + key.removeprefix(old), {}).update(self._sessions.pop(key))

    async def stop_session(self, session_key: str) -> int:
        """End a session's processes but the kept ones; how many there were."""
        return await _stop([owned for owned in self.of(session_key) if not owned.is_kept])

    async def stop_all(self) -> int:
        """End every process of every session, kept or not; how many there were."""
        return await _stop([owned for key in list(self._sessions) for owned in self.of(key)])

    def _forget_oldest(self, session_key: str) -> None:
        finished = [owned.process_id for owned in self.of(session_key) if not owned.is_running]
        for process_id in finished[: -MAX_FINISHED or None]:
            del self._sessions[session_key][process_id]


def _unfinished(text: str) -> str:
    """What comes after the last line break that ends a line; one after a backslash goes on with it."""
    end = len(text)
    while (end := text.rfind("\n", 0, end)) >= 0:
        before = text[:end]
        if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
            return text[end + 1 :]
    return text


async def _stop(processes: Iterable[OwnedProcess]) -> int:
    running = [owned for owned in processes if owned.is_running]
    await asyncio.gather(*(owned.stop() for owned in running))
    return len(running)
