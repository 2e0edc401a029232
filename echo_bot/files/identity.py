"""What an approval of a file's content is bound to."""

from __future__ import annotations

import hashlib
import os
import stat

MAX_HASHED_BYTES = 10 * 1024 * 1024
ABSENT = "absent"


def content_identity(path: str) -> str:
    """A regular file up to 10 MiB is "sha256:…", a missing one "absent", anything else "stat:…"."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except (OSError, ValueError):
        return _by_status(path)
    try:
        return identity_of_open(handle)
    finally:
        os.close(handle)


def identity_of_open(handle: int) -> str:
    """The same for an open descriptor, which is read from its start."""
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_HASHED_BYTES:
        return _text_of(status)
    sha256, place = hashlib.sha256(), 0
    while chunk := os.pread(handle, 1 << 20, place):
        sha256.update(chunk)
        place += len(chunk)
        if place > MAX_HASHED_BYTES:
            return _text_of(os.fstat(handle))
    return f"sha256:{sha256.hexdigest()}"


def identity_of_read(handle: int, data: bytes) -> str:
    """The same when `data` is what was just read from it, whole."""
    return _text_of(os.fstat(handle)) if len(data) > MAX_HASHED_BYTES else identity_of_bytes(data)


def identity_of_bytes(data: bytes) -> str:
    """What `content_identity` says of a file with this content, up to its size limit."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _by_status(path: str) -> str:
    try:
        return _text_of(os.stat(path))
    except (OSError, ValueError):
        return "stat:unreadable"


def _text_of(status: os.stat_result) -> str:
    return f"stat:{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}"
