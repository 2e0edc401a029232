"""What a container for one command is: the engine's words for who it is, what it sees and what it may use."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from echo_bot.execution.layout import Kind, Mount
from echo_bot.execution.limits import limited
from echo_bot.execution.protocol import CommandSpec
from echo_bot.policy.guards.sensitive_names import is_within

LABEL = "echo-bot.run-by"
"""On every container: the process of the bot that made it."""

NOBODY = 65534
CHANGED = 125
_LIMITED = 128 + int(signal.SIGXCPU)
"""What an end by a limit looks like from outside."""
_OWN_PROCESSES = 2
"""The first process, and the one that sends a signal."""
_PRIVATE_MB = 256
_MOST = 32768
"""Of open files and of one user's processes: the lowest highest process number there is on Linux."""

# The first process waits for the command instead of becoming it: the kernel spares a first process signals.
# Before, it looks whether everything mounted is what was opened: a workspace can change under our hands.
# Its own words about signals are no output of the command's. Last, it looks whether memory ran out.
_FIRST = """\
while [ "$1" != -- ]; do
  [ "$(stat -c %d:%i "$1")" = "$2" ] || {{ echo "the workspace changed; try again" >&2; exit {changed}; }}
  shift 2
done
shift
exec 3>&{stderr} 2>/dev/null
(exec "$@" 2>&3 3>&-)
code=$?
[ $code = 0 ] && exit 0
for file in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
  while read -r name count; do [ $name = oom_kill ] && [ $count -gt 0 ] && exit {limited}; done <$file
done
exit $code
"""


@dataclass(frozen=True, slots=True)
class Nature:
    """What is known of an engine and its image. `path` is the image's PATH."""

    is_podman: bool = False
    is_rootless: bool = False
    has_selinux: bool = False
    path: str = ""


@dataclass(frozen=True, slots=True)
class User:
    """Whom a command runs as in the container; `keeps_ids`: the engine has to map our own id to itself."""

    uid: int
    gid: int
    keeps_ids: bool = False


def user_for(nature: Nature, own: tuple[int, int], owner: tuple[int, int]) -> User:
    """`own` and `owner` are the ids of this process and of the workspace.

    Root's commands run as the workspace's owner, as nobody if that is root as well. In a rootless engine that
    is not Podman the container's root is the engine's own ordinary user, and no other can write here.
    """
    if nature.is_rootless:
        return User(*own, keeps_ids=True) if nature.is_podman else User(0, 0)
    if own[0] != 0:
        return User(*own)
    return User(*owner) if owner[0] != 0 else User(NOBODY, NOBODY)


def body(
    image: str,
    nature: Nature,
    user: User,
    spec: CommandSpec,
    *,
    workspace: str,
    plan: Iterable[Mount],
    identities: Mapping[str, str],
    env: Mapping[str, str],
    owner: str,
    has_input: bool,
) -> dict[str, Any]:
    """For the engine's create. `identities` are the device and inode, as `1:2`, of what is mounted."""
    first = _FIRST.format(stderr=1 if spec.merged else 2, changed=CHANGED, limited=_LIMITED)
    checks = [word for path, identity in identities.items() for word in (path, identity)]
    clean = ("env", "-i", *(f"{name}={value}" for name, value in env.items()))
    command = (*clean, *limited(spec.argv, spec.limits, count_processes=False))
    return {
        "Image": image,
        "Entrypoint": ["/bin/sh", "-c", first, "sh"],
        "Cmd": [*checks, "--", *command],
        "User": f"{user.uid}:{user.gid}",
        "WorkingDir": spec.cwd,
        "Env": [f"PATH={env['PATH']}"],
        "Labels": {LABEL: owner},
        "Hostname": "container",
        "AttachStdin": has_input,
        "OpenStdin": has_input,
        "StdinOnce": has_input,
        "AttachStdout": True,
        "AttachStderr": True,
        "Tty": False,
        "HostConfig": _host(nature, user, spec, workspace, tuple(plan)),
    }


def _host(
    nature: Nature, user: User, spec: CommandSpec, workspace: str, plan: tuple[Mount, ...]
) -> dict[str, Any]:
    memory = spec.limits.memory_mb << 20
    inside = [mount for mount in plan if is_within(mount.path, workspace)]
    # Podman would copy what is hidden into what hides it.
    bare = ",notmpcopyup" if nature.is_podman else ""
    private = f"rw,nosuid,nodev,mode=1777,size={min(spec.limits.file_mb, _PRIVATE_MB)}m{bare}"
    empty = f"rw,nosuid,nodev,noexec,mode=0711,size=64k{bare}"
    hidden = [mount.path for mount in inside if mount.kind is Kind.HIDDEN and os.path.isdir(mount.path)]
    host: dict[str, Any] = {
        "Mounts": [_bind(mount) for mount in inside if mount.path not in hidden],
        "Tmpfs": {"/tmp": private, **dict.fromkeys(hidden, empty)},
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges", *(["label=disable"] if nature.has_selinux else [])],
        "Privileged": False,
        "IpcMode": "private",
        "Memory": memory,
        "MemorySwap": memory,
        "PidsLimit": spec.limits.processes + _OWN_PROCESSES,
        "Ulimits": [_like_ours("nofile", resource.RLIMIT_NOFILE), _like_ours("nproc", resource.RLIMIT_NPROC)],
        "LogConfig": {"Type": "none"},
    }
    if not spec.network:
        host["NetworkMode"] = "none"
    if user.keeps_ids:
        host["UsernsMode"] = "keep-id"
    return host


def _bind(mount: Mount) -> dict[str, Any]:
    if mount.kind is Kind.HIDDEN:
        return {"Type": "bind", "Source": "/dev/null", "Target": mount.path, "ReadOnly": True}
    is_readonly = mount.kind is Kind.READ_ONLY
    return {"Type": "bind", "Source": mount.path, "Target": mount.path, "ReadOnly": is_readonly}


def _like_ours(name: str, number: int) -> dict[str, Any]:
    """Engines raise these by themselves, which not every one may do; Podman lowers its own."""
    own = [_MOST if limit == resource.RLIM_INFINITY else limit for limit in resource.getrlimit(number)]
    soft, hard = (min(limit, _MOST) for limit in own)
    return {"Name": name, "Soft": soft, "Hard": hard}
