"""Opening a path in which no component may be a symbolic link: what was judged is what is opened.

A resolved path holds no links; one that turns up at opening was put there since, and the opening fails. On
Linux openat2 checks this in the kernel; elsewhere the path is walked by folder handles.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache
from typing import Protocol

_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_TRIES = 8
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Opener(Protocol):
    def open(self, real_path: str, flags: int, mode: int = 0) -> int:
        """A new descriptor of an absolute path. Raises OSError, also where a link is in the way."""
        ...


class WalkingOpener:
    """Component by component, each relative to the handle of the folder before it."""

    def open(self, real_path: str, flags: int, mode: int = 0) -> int:
        *folders, name = [part for part in real_path.split("/") if part] or ["."]
        handle = os.open("/", _STEP)
        try:
            for folder in folders:
                below = os.open(folder, _STEP, dir_fd=handle)
                os.close(handle)
                handle = below
            return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=handle)
        finally:
            os.close(handle)


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


class KernelOpener:
    """By openat2 with every kind of link refused."""

    def __init__(self) -> None:
        self._syscall = ctypes.CDLL(None, use_errno=True).syscall
        self._syscall.restype = ctypes.c_long

    def open(self, real_path: str, flags: int, mode: int = 0) -> int:
        how = _OpenHow(
            flags | os.O_NOFOLLOW | os.O_CLOEXEC,
            mode if flags & os.O_CREAT else 0,
            _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS,
        )
        root = os.open("/", _STEP)
        try:
            return self._openat2(root, os.fsencode(real_path.lstrip("/") or "."), how)
        finally:
            os.close(root)

    def _openat2(self, root: int, path: bytes, how: _OpenHow) -> int:
        for _ in range(_TRIES):
            handle = self._syscall(
                ctypes.c_long(_OPENAT2),
                ctypes.c_int(root),
                ctypes.c_char_p(path),
                ctypes.byref(how),
                ctypes.c_size_t(ctypes.sizeof(how)),
            )
            if handle >= 0:
                return int(handle)
            code = ctypes.get_errno()
            if code not in (errno.EAGAIN, errno.EINTR):
                break
        raise OSError(code, os.strerror(code), os.fsdecode(path))


@cache
def best_opener() -> Opener:
    """The kernel's where it works here (Linux 5.6 on, no filter in the way), else the walking one."""
    if sys.platform == "linux":
        opener = KernelOpener()
        try:
            os.close(opener.open("/", os.O_RDONLY | os.O_DIRECTORY))
        except OSError:
            return WalkingOpener()
        return opener
    return WalkingOpener()
