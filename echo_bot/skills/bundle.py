"""A skill's files in memory: gathered one by one under limits, before anything is written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType

from echo_bot.policy.call import canonical_json
from echo_bot.skills.errors import SkillError
from echo_bot.skills.paths import collision_key, content_problem, is_housekeeping, path_problem

MAX_FILES = 1000
MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_TOTAL_BYTES = 32 * 1024 * 1024
MAX_ENTRIES = 5000
"""Of an archive, also those that are left out."""


class Bundle:
    """Files by their path. Raises SkillError for the first one that must not be there."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}
        self._names: dict[str, str] = {}
        self._folders: set[str] = set()
        self._total = 0

    @property
    def files(self) -> Mapping[str, bytes]:
        return MappingProxyType(self._files)

    def left_bytes(self, path: str, declared: int) -> int:
        """What the next file may hold. Raises SkillError when it says that it holds more."""
        most = min(MAX_FILE_BYTES, MAX_TOTAL_BYTES - self._total)
        if declared > most:
            raise _too_big(path)
        return most

    def admit(self, path: str) -> bool:
        """May a file of this path be added? False: it is housekeeping of others and left out."""
        if problem := path_problem(path):
            raise SkillError(f"{path[:200]!r} {problem}", "denied")
        if is_housekeeping(path):
            return False
        if problem := content_problem(path):
            raise SkillError(f"{path!r} {problem}", "denied")
        self._check_names(path)
        if len(self._files) >= MAX_FILES:
            raise SkillError(f"it has more than {MAX_FILES} files", "denied")
        return True

    def add(self, path: str, data: bytes) -> None:
        """Add a file that was admitted."""
        self.left_bytes(path, len(data))
        self._files[path] = data
        self._total += len(data)

    def _check_names(self, path: str) -> None:
        """No two paths may be one on a file system that folds case, and no file may be a folder as well."""
        key = collision_key(path)
        parts = key.split("/")
        folders = {"/".join(parts[:end]) for end in range(1, len(parts))}
        if key in self._names or key in self._folders:
            raise SkillError(f"{path!r} is there twice, perhaps in upper and lower case", "denied")
        if taken := folders & self._names.keys():
            raise SkillError(f"{self._names[min(taken)]!r} is a file and a folder", "denied")
        self._names[key] = path
        self._folders |= folders


def _too_big(path: str) -> SkillError:
    return SkillError(
        f"{path[:200]!r} makes it too big: a file may have {MAX_FILE_BYTES >> 20} MiB, "
        f"all together {MAX_TOTAL_BYTES >> 20} MiB",
        "denied",
    )


def digest_of(hashes: Mapping[str, str]) -> str:
    """ "sha256:…" over paths and the SHA-256 (hex) of their contents."""
    return f"sha256:{hashlib.sha256(canonical_json(sorted(hashes.items())).encode()).hexdigest()}"


def digest_of_files(files: Mapping[str, bytes]) -> str:
    return digest_of({path: hashlib.sha256(data).hexdigest() for path, data in files.items()})
