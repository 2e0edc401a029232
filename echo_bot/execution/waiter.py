"""A first process that waits for the command and adopts what the command's processes leave without a parent.

However a process hides – in a session of its own, with an empty environment, its parent gone – it stays below
the waiter, is found there, and has the bot among its ancestors. Linux alone has such adoption.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import sys
from collections.abc import Callable

from echo_bot.execution.hardening import prctl
from echo_bot.execution.stream import Stream

_PR_SET_CHILD_SUBREAPER = 36
_REPORT = 9
"""The waiter's handle for the exit code: a shell can only name handles of one digit."""

# Says nothing itself, holds no output open at the end, and stays until it is killed: with its end its orphans
# would be handed on. Once the bot is gone nobody would kill it, nor hear the code.
_SCRIPT = """\
trap : HUP INT QUIT TERM USR1 USR2 ALRM PIPE
exec 8>&2 2>/dev/null
(exec "$@" 2>&8 8>&- 9>&-)
code=$?
exec </dev/null >/dev/null 8>&-
echo $code >&9 && kill -STOP $$
"""


def can_wait() -> bool:
    return sys.platform == "linux"


def waited(argv: tuple[str, ...]) -> tuple[str, ...]:
    return ("/bin/sh", "-c", _SCRIPT, "sh", *argv)


class Report:
    """The exit code's way from the waiter. `prepare` is for the child before it becomes the shell."""

    passed = (_REPORT,)

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self._waiter: asyncio.SubprocessTransport | None = None
        set_option = prctl()
        write = self._write

        def prepare() -> None:
            if set_option is not None:
                set_option(_PR_SET_CHILD_SUBREAPER, *map(ctypes.c_ulong, (1, 0, 0, 0)))
            os.dup2(write, _REPORT)

        self.prepare: Callable[[], None] = prepare

    def follow(self, stream: Stream, waiter: asyncio.SubprocessTransport) -> None:
        """Tell the stream when the code comes. To be closed when the run is over."""
        os.close(self._write)
        self._write, self._waiter = -1, waiter
        asyncio.get_running_loop().add_reader(self._read, self._arrived, stream)

    def end_waiter(self) -> None:
        """By force, once nobody else is left."""
        if self._waiter is not None:
            with contextlib.suppress(ProcessLookupError):
                self._waiter.kill()

    def close(self) -> None:
        if self._read >= 0:
            asyncio.get_running_loop().remove_reader(self._read)
            os.close(self._read)
        if self._write >= 0:
            os.close(self._write)
        self._read = self._write = -1

    def _arrived(self, stream: Stream) -> None:
        """Without a code the waiter itself ended, which its parent hears."""
        asyncio.get_running_loop().remove_reader(self._read)
        text = os.read(self._read, 16)
        if text.strip().isdigit():
            stream.set_exited(int(text))
