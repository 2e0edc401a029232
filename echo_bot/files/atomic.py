"""Replacing a file in an open folder: a temporary file beside it, synced, then renamed over it."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PERMISSIONS = 0o777


def replace_file(folder: int, name: str, data: bytes, before: os.stat_result | None) -> None:
    """Put `data` under `name`. `before` is the status of the file in place, whose mode and owner are kept.

    Raises OSError, with nothing changed. A set-user-id or set-group-id bit is not kept.
    """
    temporary = f".echo-bot-{secrets.token_hex(8)}.tmp"
    handle = os.open(temporary, _CREATE, 0o666 if before is None else 0o600, dir_fd=folder)
    try:
        try:
            _fill(handle, data, before)
        finally:
            os.close(handle)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    sync_folder(folder)


def create_file(folder: int, name: str, data: bytes, mode: int | None = None) -> None:
    """Put `data` under a name that is free. Raises FileExistsError when it is not, else as `replace_file`.

    Without a `mode` it is that of any new file.
    """
    temporary = f".echo-bot-{secrets.token_hex(8)}.tmp"
    handle = os.open(temporary, _CREATE, 0o666 if mode is None else 0o600, dir_fd=folder)
    try:
        try:
            _fill(handle, data, None)
            if mode is not None:
                os.fchmod(handle, mode & _PERMISSIONS)
        finally:
            os.close(handle)
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    finally:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
    sync_folder(folder)


def _fill(handle: int, data: bytes, before: os.stat_result | None) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]
    if before is not None:
        with suppress(PermissionError):
            os.fchown(handle, before.st_uid, before.st_gid)
        os.fchmod(handle, stat.S_IMODE(before.st_mode) & _PERMISSIONS)
    os.fsync(handle)


def sync_folder(folder: int) -> None:
    """Make renames and removals in it durable; some file systems cannot, and then the kernel decides when."""
    with suppress(OSError):
        os.fsync(folder)
