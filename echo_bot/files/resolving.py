"""Resolving: from a path text to what it stands for on this machine. Looks, never opens, never raises."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import replace

from echo_bot.policy.guards.paths import FileKind, PathRules, ResolvedPath, ResolveProblem

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 4095
MAX_LINKS = 40
"""The kernel's own limits."""


def resolve(path: str, cwd: str) -> ResolvedPath:
    """Follow every symlink of the part that exists, as the kernel would; nothing is expanded or decoded.

    `cwd` is absolute. What may not be looked at counts as missing: opening it will say so.
    """
    absolute = os.path.join(cwd, path)
    problem = _text_problem(absolute)
    if problem:
        return ResolvedPath(path, absolute, absolute, "missing", problem=problem)
    walk = _Walk(absolute)
    problem = walk.run()
    found = walk.found
    if found and absolute.endswith(("/", "/.")) and not stat.S_ISDIR(found.st_mode):
        found, problem = None, "not_a_folder"
    return ResolvedPath(
        given=path,
        absolute=absolute,
        real=walk.place,
        kind=kind_of(found) if found else "missing",
        nlink=found.st_nlink if found else 0,
        problem=problem,
    )


def real_rules(rules: PathRules) -> PathRules:
    """The rules with every folder's symlinks followed. Protected places are kept under both spellings."""
    return replace(
        rules,
        workspace=os.path.realpath(rules.workspace),
        safe_write_root=os.path.realpath(rules.safe_write_root) if rules.safe_write_root else "",
        home=os.path.realpath(rules.home) if rules.home else "",
        protected=tuple(_both_spellings(rules.protected)),
        protected_write=tuple(_both_spellings(rules.protected_write)),
    )


def kind_of(found: os.stat_result) -> FileKind:
    mode = found.st_mode
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "dir"
    if stat.S_ISFIFO(mode):
        return "fifo"
    return "socket" if stat.S_ISSOCK(mode) else "device"


def _both_spellings(places: tuple[str, ...]) -> Iterator[str]:
    seen: set[str] = set()
    for place in places:
        for spelling in (os.path.abspath(place), os.path.realpath(place)):
            if spelling not in seen:
                seen.add(spelling)
                yield spelling


def _text_problem(absolute: str) -> ResolveProblem:
    if "\0" in absolute:
        return "nul"
    try:
        encoded = os.fsencode(absolute)
    except UnicodeEncodeError:
        return "not_text"
    if len(encoded) > MAX_PATH_BYTES or any(len(part) > MAX_NAME_BYTES for part in encoded.split(b"/")):
        return "too_long"
    return ""


class _Walk:
    """One resolution, component by component. `found` is the status of the end, None where it is missing."""

    def __init__(self, absolute: str) -> None:
        self._pending = _parts(absolute)
        self._done: list[str] = []
        self._missing_from: int | None = None
        self._links = 0
        self.found: os.stat_result | None = None

    @property
    def place(self) -> str:
        return "/" + "/".join(self._done)

    def run(self) -> ResolveProblem:
        while self._pending:
            part = self._pending.pop()
            problem = self._up() if part == ".." else self._down(part)
            if problem:
                self.found = None
                return problem
        if self._missing_from is None:
            self.found = self.found or _status(self.place)
        return ""

    def _up(self) -> ResolveProblem:
        if self._done:
            self._done.pop()
        if self._missing_from is not None and len(self._done) <= self._missing_from:
            self._missing_from = None
        self.found = None
        return ""

    def _down(self, part: str) -> ResolveProblem:
        self._done.append(part)
        if self._missing_from is not None:
            return ""
        try:
            self.found = os.lstat(self.place)
            if stat.S_ISLNK(self.found.st_mode):
                return self._follow(os.readlink(self.place))
        except OSError as error:
            return self._cannot_look(error)
        return "not_a_folder" if self._pending and not stat.S_ISDIR(self.found.st_mode) else ""

    def _follow(self, target: str) -> ResolveProblem:
        self._links += 1
        if self._links > MAX_LINKS:
            return "link_loop"
        self._done = [] if target.startswith("/") else self._done[:-1]
        self._pending.extend(_parts(target))
        self.found = None
        return ""

    def _cannot_look(self, error: OSError) -> ResolveProblem:
        self.found = None
        if error.errno == errno.ELOOP:
            return "link_loop"
        if error.errno == errno.ENAMETOOLONG:
            return "too_long"
        if error.errno == errno.ENOTDIR:
            return "not_a_folder"
        self._missing_from = len(self._done) - 1
        return ""


def _parts(path: str) -> list[str]:
    """The components still to go, last first."""
    return [part for part in reversed(path.split("/")) if part not in ("", ".")]


def _status(place: str) -> os.stat_result | None:
    try:
        return os.lstat(place)
    except OSError:
        return None
