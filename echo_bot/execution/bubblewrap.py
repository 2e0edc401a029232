"""The bubblewrap command line: namespaces, mounts and environment, in the order bwrap applies them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from echo_bot.execution.layout import Kind, Mount

NAMESPACE_VARIANTS: tuple[tuple[str, ...], ...] = (
    ("--unshare-user", "--disable-userns"),
    ("--unshare-user",),
    (),
)
"""From strict to lenient: no nested user namespaces; an older bwrap; only root may make namespaces."""

_ALWAYS = (
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--hostname",
    "sandbox",
)


def arguments(
    namespaces: Sequence[str],
    plan: Iterable[Mount],
    *,
    env: Mapping[str, str],
    cwd: str,
    network: bool,
    private_bytes: int,
    handles: Mapping[str, int],
) -> list[str]:
    """Everything before the command. `private_bytes` bounds each private folder, which lives in memory.

    `handles` are open files to mount from, by path; what has none is mounted from its path.
    """
    words = [*namespaces, *_ALWAYS]
    if not network:
        words.append("--unshare-net")
    # A read-only /proc: root may write to the kernel's own switches in it even without any capability.
    words += ["--ro-bind", "/", "/", "--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"]
    for mount in plan:
        words += _mount(mount, private_bytes, handles.get(mount.path))
    if network:
        words += _resolver()
    words.append("--clearenv")
    for name, value in env.items():
        words += ["--setenv", name, value]
    return [*words, "--chdir", cwd]


def _mount(mount: Mount, private_bytes: int, handle: int | None) -> list[str]:
    match mount.kind:
        case Kind.WRITABLE | Kind.PINNED:
            how = "--bind"
        case Kind.READ_ONLY:
            how = "--ro-bind"
        case Kind.PRIVATE:
            return ["--perms", "1777", "--size", str(private_bytes), "--tmpfs", mount.path]
        case Kind.HIDDEN if os.path.isdir(mount.path):
            return ["--perms", "0711", "--size", "65536", "--tmpfs", mount.path]
        case Kind.HIDDEN:
            return ["--ro-bind", "/dev/null", mount.path]
    if handle is None:
        return [how, mount.path, mount.path]
    return [f"{how}-fd", str(handle), mount.path]


def _resolver() -> list[str]:
    """Name resolution often hangs on a link into /run, which is private."""
    real = os.path.realpath("/etc/resolv.conf")
    return (
        ["--ro-bind", real, real] if real.startswith(("/run/", "/var/run/")) and os.path.isfile(real) else []
    )


def why_not(stderr: str, facts: Mapping[str, str]) -> str:
    """The sentence for a probe that failed. `facts` holds the kernel's switches by the end of their path."""
    said = stderr.strip().splitlines()[-1] if stderr.strip() else "no message"
    if facts.get("kernel/apparmor_restrict_unprivileged_userns") == "1":
        cause = "AppArmor forbids unprivileged user namespaces; allow them for bwrap with an AppArmor profile"
    elif facts.get("kernel/unprivileged_userns_clone") == "0":
        cause = "the kernel forbids user namespaces; run: sysctl kernel.unprivileged_userns_clone=1"
    elif facts.get("user/max_user_namespaces") == "0":
        cause = "the kernel allows no user namespaces; raise the sysctl user.max_user_namespaces"
    elif "Unknown option" in said or "unknown option" in said:
        cause = "this bubblewrap is too old; version 0.8 or later is needed"
    elif "mount proc" in said or "/newroot/proc" in said:
        cause = (
            "this container masks /proc; start it with an unmasked one, or run Echo Bot outside a container"
        )
    else:
        cause = "a container or the kernel forbids namespaces here; allow them, or run Echo Bot outside"
    return f"bubblewrap cannot make a sandbox ({said}): {cause}, or set tools.exec.host to local"
