"""A process that cannot be mistaken for a later one with the same number, and its ancestors.

Linux tells through /proc, other systems through `ps`. Where neither does, a number in use counts as alive.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class ProcessId:
    """`started`: the start in ticks since boot; `place`: the machine, boot and space of process numbers."""

    pid: int
    started: str
    place: str

    def __str__(self) -> str:
        return f"{self.pid} {self.started or '-'} {self.place}"

    @classmethod
    def parse(cls, text: str) -> ProcessId | None:
        """The inverse of `str()`; None for anything else."""
        parts = text.split(" ", 2)
        if len(parts) != 3 or not parts[0].isdecimal():
            return None
        return cls(int(parts[0]), "" if parts[1] == "-" else parts[1], parts[2])

    @classmethod
    def current(cls) -> ProcessId:
        return cls(os.getpid(), _started(os.getpid()), here())

    def is_alive(self) -> bool | None:
        """None when it lives where this process cannot look: another machine, boot or container."""
        if self.place != here():
            return None
        if not _exists(self.pid):
            return False
        return not self.started or _started(self.pid) in (self.started, "")


def here() -> str:
    """Where a process number means something: the machine, its boot and the space of process numbers."""
    boot = _read(_PROC / "sys/kernel/random/boot_id")[:8] or "-"
    return f"{os.uname().nodename} {boot} {_number_space()}"


def ancestors() -> Iterator[int]:
    """The numbers of this process's parents, nearest first, as far as they can be seen."""
    pid = os.getppid()
    seen: set[int] = set()
    while pid > 0 and pid not in seen:
        yield pid
        seen.add(pid)
        pid = _parent(pid) or 0


def descends_from(other: ProcessId) -> bool | None:
    """Is `other` this process or one of its parents? None when that cannot be seen."""
    if other.place != here():
        return None
    line = (os.getpid(), *ancestors())
    if other.pid in line:
        return True
    return False if _parent(line[-1]) is not None else None


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _started(pid: int) -> str:
    if not _PROC.is_dir():
        return _ps(pid, "lstart").replace(" ", "_")
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else ""


def _parent(pid: int) -> int | None:
    """None for a process that is hidden or gone."""
    if not _PROC.is_dir():
        number = _ps(pid, "ppid")
        return int(number) if number.isdecimal() else None
    fields = _stat(pid)
    return int(fields[1]) if len(fields) > 1 else None


def _ps(pid: int, field: str) -> str:
    """What `ps` says, where there is no /proc."""
    import subprocess

    command = ["ps", "-o", f"{field}=", "-p", str(pid)]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _stat(pid: int) -> list[str]:
    """The fields after the command's name, which may itself hold blanks and brackets."""
    return _read(_PROC / str(pid) / "stat").rpartition(")")[2].split()


def _number_space() -> str:
    try:
        return os.readlink(_PROC / "self/ns/pid")
    except OSError:
        return "-"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
