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
    prctl = _prctl()
    return prctl is not None and prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0


def is_hardened() -> bool:
    """Is this process closed to others of the same user? Asked of the kernel, not remembered."""
    prctl = _prctl()
    return prctl is not None and prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0) == 0


def _prctl() -> ctypes._NamedFuncPointer | None:
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    prctl.restype = ctypes.c_int
    return prctl
