"""Contents by their SHA-256: each is kept once, readable by its owner only."""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

_UNREFERENCED_SECONDS = 3600.0
"""A content is stored a moment before its row; one this old without any is left over."""


def digest_of(data: bytes | None) -> str:
    """SHA-256 in hex, "" for no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


class Blobs:
    """`folder` is made when first needed. `now` is Unix time. All methods block."""

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self._folder, self._now = folder, now

    def put(self, data: bytes) -> str:
        """Its digest, once it is on the disk. Raises OSError."""
        digest = digest_of(data)
        place = self._place(digest)
        try:
            os.utime(place, (self._now(), self._now()))
            return digest
        except FileNotFoundError:
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = place.with_name(f".{secrets.token_hex(8)}.tmp")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.rename(temporary, place)
        except OSError:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        return digest

    def get(self, digest: str) -> bytes | None:
        """None when it is not there, or not what it was."""
        try:
            data = self._place(digest).read_bytes()
        except OSError:
            return None
        return data if digest_of(data) == digest else None

    def sweep(self, wanted: Collection[str]) -> int:
        """Drop what is not wanted, and what a crash left half written; returns how many files went."""
        oldest = self._now() - _UNREFERENCED_SECONDS
        dropped = 0
        for place in self._folder.glob("*/*"):
            with suppress(OSError):
                if place.name not in wanted and place.lstat().st_mtime < oldest:
                    place.unlink()
                    dropped += 1
        return dropped

    def _place(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest
