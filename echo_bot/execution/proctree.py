"""Who is running: one reading of /proc, and the members of a process group found in it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Process:
    """One process. `started` is in clock ticks since boot: with the pid it names a process for good."""

    pid: int
    parent: int
    group: int
    session: int
    started: int
    resident_bytes: int
    state: str = "S"


ProcessKey = tuple[int, int]


def key(process: Process) -> ProcessKey:
    return process.pid, process.started


def parse_stat(text: str) -> Process:
    """One line of /proc/PID/stat. The name in brackets may hold anything, also brackets and blanks."""
    pid, rest = text.split(" ", 1)
    fields = rest[rest.rindex(")") + 2 :].split()
    return Process(
        pid=int(pid),
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        started=int(fields[19]),
        resident_bytes=int(fields[21]) * _PAGE_BYTES,
        state=fields[0],
    )


def read_processes() -> dict[int, Process]:
    """All living processes by pid, without zombies, which nothing can end; empty where there is no /proc."""
    found: dict[int, Process] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return found
    for name in names:
        if name.isdigit() and (process := read_process(int(name))) is not None:
            found[process.pid] = process
    return found


def read_process(pid: int) -> Process | None:
    """One living process, or None."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            process = parse_stat(file.read())
    except (OSError, ValueError, IndexError):
        return None
    return None if process.state in "ZX" else process


def descendants(processes: Mapping[int, Process], roots: Iterable[int]) -> list[Process]:
    """Children, their children and so on, parents before children; the roots themselves are left out."""
    children: dict[int, list[Process]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    queue, seen = list(roots), set(roots)
    while queue:
        for child in children.get(queue.pop(), ()):
            if child.pid not in seen:
                seen.add(child.pid)
                found.append(child)
                queue.append(child.pid)
    return found


def carries(process: Process, mark: bytes) -> bool:
    """Does the process have `mark` (`NAME=value`) in the environment it was started with?"""
    try:
        with open(f"/proc/{process.pid}/environ", "rb") as file:
            return mark in file.read().split(b"\0")
    except OSError:
        return False


def send(processes: Iterable[Process], number: int) -> None:
    """Signal each; one that is gone, or whose pid is somebody else's by now, is passed over."""
    for process in processes:
        now = read_process(process.pid)
        if now is not None and now.started == process.started:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, number)
