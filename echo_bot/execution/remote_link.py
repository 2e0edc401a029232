"""One SSH connection: its guardian, and the channels of the commands that run over it."""

from __future__ import annotations

import asyncio
import secrets
import signal
from typing import cast

import asyncssh

from echo_bot.errors import StartError
from echo_bot.execution.proctree import Process, parse_stat
from echo_bot.execution.protocol import Chunk, LostError
from echo_bot.execution.remote_scripts import END, NO_FOLDER, READ_PROGRAM, STARTED, as_line, guardian
from echo_bot.execution.stream import Stream

ANSWER_SECONDS = 30.0
_HEADER_BYTES = 1 << 16


class RemoteStream(Stream, asyncssh.SSHClientSession[bytes]):
    """A command's channel. What is written before its header, such as a login greeting, is left out.

    `began` gets the first process's id. Raises StartError there, or LostError.
    """

    def __init__(self, mark: str) -> None:
        super().__init__()
        self.began: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._mark = mark.encode()
        self._header = b""
        self._chan: asyncssh.SSHClientChannel[bytes] | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, chan: asyncssh.SSHClientChannel[bytes]) -> None:
        self._chan = chan

    def data_received(self, data: bytes, datatype: int | None) -> None:
        if self.began.done():
            self.take_in(Chunk("stderr" if datatype == asyncssh.EXTENDED_DATA_STDERR else "stdout", data))
        elif datatype is None:
            self._look_for_header(data)

    def eof_received(self) -> bool:
        """The exit code may still come."""
        self.finish()
        return True

    def exit_status_received(self, status: int) -> None:
        self.set_exited(status)

    def exit_signal_received(self, signal: str, core_dumped: bool, msg: str, lang: str) -> None:
        self.set_exited(128 + _signal_number(signal))

    def connection_lost(self, exc: Exception | None) -> None:
        why = f"the connection broke ({exc})" if exc else "it ended at once"
        if not self.began.done():
            self.began.set_exception(StartError(f"the command was not started: {why}"))
        if not self.exited.done():
            self.exited.set_exception(LostError(why))
            self.exited.exception()  # looked at: of one that never began nobody asks
        self._writable.set()
        self.finish()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    async def write(self, data: bytes) -> None:
        if not self.feed(data):
            raise BrokenPipeError("the process takes no more input")
        await self._writable.wait()

    def feed(self, data: bytes) -> bool:
        if self._chan is None or self.exited.done() or self._chan.is_closing():
            return False
        try:
            self._chan.write(data)
        except OSError:
            return False
        return True

    def close_stdin(self) -> None:
        if self._chan is not None and not self._chan.is_closing():
            self._chan.write_eof()

    def cut(self) -> None:
        if self._chan is not None:
            self._chan.close()
        self.finish()

    def pause_reading(self) -> None:
        if self._chan is not None:
            self._chan.pause_reading()

    def resume_reading(self) -> None:
        if self._chan is not None:
            self._chan.resume_reading()

    def _look_for_header(self, data: bytes) -> None:
        self._header += data
        *lines, rest = self._header.split(b"\n")
        for number, line in enumerate(lines):
            if line.startswith(self._mark + b" "):
                self._begin(line.split()[1:], b"\n".join((*lines[number + 1 :], rest)))
                return
        self._header = self._header[-_HEADER_BYTES:]

    def _begin(self, words: list[bytes], rest: bytes) -> None:
        if words[0] == NO_FOLDER.encode():
            self.began.set_exception(StartError("the folder is not there"))
        elif words[0] == STARTED.encode():
            self.began.set_result(int(words[1]))
            if rest:
                self.take_in(Chunk("stdout", rest))


class RemoteLink:
    """`name` begins the marks of all that is started over it. `runs` counts what runs now."""

    def __init__(
        self, connection: asyncssh.SSHClientConnection, helper: asyncssh.SSHClientProcess[str], name: str
    ) -> None:
        self._connection, self._guardian, self.name = connection, helper, name
        self._asking = asyncio.Lock()
        self.runs = 0

    @classmethod
    async def over(cls, connection: asyncssh.SSHClientConnection) -> RemoteLink:
        """Raises OSError and asyncssh.Error."""
        name = secrets.token_hex(8)
        process = await connection.create_process(READ_PROGRAM, encoding="utf-8", errors="replace")
        process.stdin.write(as_line(guardian(name)).decode())
        return cls(connection, process, name)

    @property
    def is_open(self) -> bool:
        return not self._connection.is_closed() and self._guardian.exit_status is None

    async def open(self, mark: str) -> RemoteStream:
        """A channel that waits for its program. Raises OSError and asyncssh.Error."""
        _, stream = await self._connection.create_session(
            lambda: RemoteStream(mark), READ_PROGRAM, encoding=None
        )
        return cast(RemoteStream, stream)

    async def say(self, text: str) -> str:
        """Run a program and return what it writes. Raises OSError and asyncssh.Error."""
        line = as_line(text).decode()
        done = await self._connection.run(READ_PROGRAM, input=line, encoding="utf-8", errors="replace")
        return str(done.stdout or "")

    async def began(self, pid: int) -> None:
        await self._ask(f"began - {pid}")

    async def ended(self, pid: int) -> None:
        await self._ask(f"ended - {pid}")

    async def look(self, mark: str) -> tuple[dict[int, Process], set[int]]:
        """All its processes, without zombies, and the ids of those with this mark."""
        stats, _, marked = (await self._ask(f"look {mark}")).partition("--\n")
        processes: dict[int, Process] = {}
        for line in stats.splitlines():
            try:
                process = parse_stat(line)
            except (ValueError, IndexError):
                continue
            if process.state not in "ZX":
                processes[process.pid] = process
        return processes, {int(pid) for pid in marked.split() if pid.isdigit()}

    async def kill(self, number: int, pids: list[int]) -> None:
        await self._ask(f"kill {number} {' '.join(map(str, pids))}")

    async def close(self) -> None:
        """The guardian then ends what is left."""
        self._connection.close()
        await self._connection.wait_closed()

    def abort(self) -> None:
        """The same at once: nothing can be trusted to come over it any more."""
        self._connection.abort()

    async def _ask(self, line: str) -> str:
        """Raises LostError."""
        said: list[str] = []
        try:
            async with self._asking, asyncio.timeout(ANSWER_SECONDS):
                self._guardian.stdin.write(line + "\n")
                while (answer := await self._guardian.stdout.readline()) != END + "\n":
                    if not answer:
                        raise LostError("the connection broke")
                    said.append(answer)
        except (OSError, asyncssh.Error, TimeoutError) as error:
            self.abort()  # an answer out of step would be taken for another's
            raise LostError(f"the connection broke ({error})") from error
        return "".join(said)


def _signal_number(name: str) -> int:
    try:
        return int(signal.Signals[f"SIG{name}"])
    except KeyError:
        return 0
