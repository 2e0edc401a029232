"""A skill's folder on disk: its files, the digest over them, and one file of it. Links are never followed."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from echo_bot.files import Opener, best_opener
from echo_bot.skills.bundle import MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES, digest_of
from echo_bot.skills.errors import SkillError
from echo_bot.skills.paths import path_problem

_SKIPPED = frozenset({"__pycache__", ".git"})
"""Not part of a skill: scripts are started so that Python never looks into the first."""

_READ = os.O_RDONLY | os.O_NONBLOCK
_FOLDER = os.O_RDONLY | os.O_DIRECTORY


@dataclass(frozen=True, slots=True)
class TreeFile:
    path: str
    size: int


class SkillTree:
    """The folder of one skill, `root` absolute. All methods block and raise SkillError."""

    def __init__(self, root: Path, opener: Opener | None = None) -> None:
        self.root = root
        self._opener = opener or best_opener()
        self._real = os.path.realpath(root)

    def files(self) -> tuple[TreeFile, ...]:
        """Every file, sorted by path."""
        found: list[TreeFile] = []
        total = 0
        for file in self._below(""):
            found.append(file)
            total += file.size
            if len(found) > MAX_FILES or total > MAX_TOTAL_BYTES:
                raise SkillError(
                    f"{self.root} is too big for a skill: at most {MAX_FILES} files and "
                    f"{MAX_TOTAL_BYTES >> 20} MiB"
                )
        return tuple(sorted(found, key=lambda file: file.path))

    def digest(self) -> str:
        """The digest over every file."""
        return digest_of({file.path: self._hash(file.path) for file in self.files()})

    def read(self, path: str, limit: int = MAX_FILE_BYTES) -> bytes:
        """A file inside the skill."""
        if problem := path_problem(path):
            raise SkillError(f"{path[:200]!r} {problem}")
        with self._opened(path) as handle:
            data = b""
            while len(data) <= limit and (chunk := os.read(handle, min(1 << 20, limit + 1 - len(data)))):
                data += chunk
        if len(data) > limit:
            raise SkillError(f"{path!r} has more than {limit:,} bytes")
        return data

    def read_all(self) -> dict[str, bytes]:
        return {file.path: self.read(file.path) for file in self.files()}

    def _hash(self, path: str) -> str:
        sha256 = hashlib.sha256()
        with self._opened(path) as handle:
            while chunk := os.read(handle, 1 << 20):
                sha256.update(chunk)
        return sha256.hexdigest()

    @contextmanager
    def _opened(self, path: str) -> Iterator[int]:
        """A regular file by its path inside; nothing on the way may be a link."""
        try:
            handle = self._opener.open(f"{self._real}/{path}", _READ)
        except FileNotFoundError:
            raise SkillError(f"{path!r} is not a file of this skill") from None
        except OSError as error:
            why = os.strerror(error.errno or 0).lower()
            raise SkillError(f"{path!r} cannot be opened, or is a link: {why}", "denied") from None
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise SkillError(f"{path!r} is not a file of this skill")
            if status.st_nlink > 1:
                raise SkillError(f"{path!r} has several names (hard links); copy it first", "denied")
            yield handle
        finally:
            os.close(handle)

    def _below(self, folder: str) -> Iterator[TreeFile]:
        try:
            handle = self._opener.open(f"{self._real}/{folder}".rstrip("/"), _FOLDER)
        except OSError as error:
            why = os.strerror(error.errno or 0).lower()
            raise SkillError(f"{self.root / folder} cannot be read: {why}") from None
        try:
            with os.scandir(handle) as entries:
                for entry in entries:
                    if entry.name not in _SKIPPED:
                        yield from self._entry(entry, f"{folder}{entry.name}")
        finally:
            os.close(handle)

    def _entry(self, entry: os.DirEntry[str], path: str) -> Iterator[TreeFile]:
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode):
            if problem := path_problem(path):
                raise SkillError(f"{path[:200]!r} {problem}")
            yield from self._below(f"{path}/")
        elif stat.S_ISREG(status.st_mode):
            yield TreeFile(path, status.st_size)
        else:
            raise SkillError(
                f"{self.root / path} is a link or a special file; a skill has plain files only", "denied"
            )
