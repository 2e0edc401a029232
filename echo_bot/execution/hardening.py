"""Keeps other processes of the same user out of the bot's memory and environment."""

from __future__ import annotations

import ctypes
import sys

_PR_GET_DUMPABLE = 3
_PR_SET_DUMPABLE = 4


def harden_process() -> bool:
    """Make this process undumpable: no core dump, no ptrace, /proc/PID/environ and mem for root alone.

    Children get back to normal when they exec. False where the system has no such switch.
    """
    call = prctl()
    return call is not None and call(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0


def is_hardened() -> bool:
    """Is this process closed to others of the same user? Asked of the kernel, not remembered."""
    call = prctl()
    return call is not None and call(_PR_GET_DUMPABLE, 0, 0, 0, 0) == 0


def prctl() -> ctypes._NamedFuncPointer | None:
    """The system call that sets a process's own options; None where there is none."""
    if not sys.platform.startswith("linux"):
        return None
    function = ctypes.CDLL(None, use_errno=True).prctl
    function.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    function.restype = ctypes.c_int
    return function
