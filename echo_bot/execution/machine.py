"""What this machine's kernel and bubblewrap can do: asked once, before the first sandbox."""

from __future__ import annotations

import os
import subprocess

_PATIENCE_SECONDS = 10.0
_SWITCHES = (
    "kernel/apparmor_restrict_unprivileged_userns",
    "kernel/unprivileged_userns_clone",
    "user/max_user_namespaces",
)


def knows_handles(bwrap: str) -> bool:
    """Can this bwrap mount what is already open? Older ones only know paths."""
    try:
        done = subprocess.run(
            [bwrap, "--help"], capture_output=True, text=True, timeout=_PATIENCE_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return "--ro-bind-fd" in done.stdout


def counts_processes(namespaces: tuple[str, ...]) -> bool:
    """Since Linux 5.14 a user namespace has a count of its own; before, all of the user's were in it."""
    version = tuple(int(part) for part in os.uname().release.split(".")[:2] if part.isdigit())
    return "--unshare-user" in namespaces and version >= (5, 14)


def read_switches() -> dict[str, str]:
    found: dict[str, str] = {}
    for switch in _SWITCHES:
        try:
            with open(f"/proc/sys/{switch}", encoding="ascii") as file:
                found[switch] = file.read().strip()
        except OSError:
            continue
    return found
