"""A server that is no descendant of the tests: they look among those for processes that were left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from echo_bot.execution.proctree import descendants, read_process, read_processes

_PATIENCE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Service:
    pid: int

    @classmethod
    def start(
        cls, words: tuple[str, ...], folder: Path, environment: Mapping[str, str], answers: Callable[[], bool]
    ) -> Service:
        """Returns when it answers."""
        note = folder / "pid"
        note.unlink(missing_ok=True)
        noting = ("sh", "-c", 'echo $$ > "$0"; exec "$@"', str(note))
        subprocess.run(
            ("setsid", "--fork", *noting, *words),
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        _wait(lambda: note.exists() and note.read_text().endswith("\n"), f"{words[0]} does not start")
        service = cls(int(note.read_text()))
        _wait(answers, f"{words[0]} does not answer")
        return service

    def stop(self, *, with_children: bool = False) -> None:
        """By force; its direct children too where they are to go with it."""
        ended = [self.pid]
        if with_children:
            below = descendants(read_processes(), [self.pid])
            ended += [process.pid for process in below if process.parent == self.pid]
        for pid in ended:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _wait(lambda: all(read_process(pid) is None for pid in ended), "a server does not end")


def _wait(is_so: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.01)
