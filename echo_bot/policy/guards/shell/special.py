"""Programs with a logic of their own: container mounts, account look-ups, remote shells, package scripts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import effects, roots
from echo_bot.policy.guards.shell.options import OptionTable, is_option, names, read_options
from echo_bot.policy.guards.shell.paths import parts_of, resolve

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

_HOST_PATHS = (
    "/",
    "/etc",
    "/root",
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/proc",
    "/sys",
    "/dev",
    "/boot",
    "/usr",
    "/home",
    "/var",
    "/var/run",
    "/run",
    "/bin",
    "/lib",
    "/sbin",
    "/opt",
    "/var/lib/docker",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
)
_POWERFUL = re.compile(
    r"--(?:privileged|pid|ipc|uts|userns|network|net)(?:=(?:host|true))?\Z|"
    r"--cap-add(?:=.*)?\Z|--device(?:=.*)?\Z|--security-opt(?:=.*)?\Z"
)


def container(machine: Machine, inv: Invocation) -> None:
    """docker, podman, nerdctl: mounts of the host and powers over it."""
    words = [arg.lower() for arg in inv.args if not is_option(arg)]
    if not {"run", "create", "exec", "compose", "service"} & set(words[:4]):
        return
    args = inv.args
    for index, arg in enumerate(args):
        following = args[index + 1] if index + 1 < len(args) else ""
        mount = ""
        if arg in ("-v", "--volume"):
            mount = following.split(":", 1)[0]
        elif arg.startswith("--volume="):
            mount = arg.partition("=")[2].split(":", 1)[0]
        elif re.match(r"-[a-zA-Z]*v[/~.\ud804]", arg) and arg[:2] != "--":
            mount = arg[arg.index("v") + 1 :].split(":", 1)[0]
        elif arg == "--mount" or arg.startswith("--mount="):
            found = re.search(r"(?:source|src)=([^,]*)", following if arg == "--mount" else arg)
            mount = found.group(1) if found else ""
        powerful = _POWERFUL.match(arg) and (
            arg.startswith("--privileged")
            or "=host" in arg
            or following == "host"
            or arg.startswith(("--cap-add", "--device", "--security-opt"))
        )
        if powerful and arg != "--privileged=false":
            machine.ask("container_host_mount", "Gives a container power over the host.", inv)
        if mount and mount[:1] in ("/", "~", "\ud804", "\ud800"):
            path = resolve(mount, inv.place)
            if (
                "/" + "/".join(parts_of(path)) in _HOST_PATHS
                or path.startswith(("/etc/", "/root/", "/proc/", "/sys/", "/dev/", "/boot/"))
                or path == "\ud804"
            ):
                machine.ask(
                    "container_host_mount",
                    f"Mounts the host's {effects.spoken(mount)} into a container.",
                    inv,
                )
            effects.secret(machine, inv, mount, "Mounts")


def getent(machine: Machine, inv: Invocation) -> None:
    words = [arg.lower() for arg in inv.args if not is_option(arg)]
    if words and words[0] in ("shadow", "gshadow"):
        machine.deny("sensitive_path", "Reads the password table.", inv)
    elif set(words[1:]) - {"localhost"} and words[0] in ("hosts", "ahosts", "ahostsv4", "ahostsv6"):
        machine.ask("network_outbound", "Looks a name up on the network.", inv)


def gpg(machine: Machine, inv: Invocation) -> None:
    if any(arg.startswith(("--export-secret", "--export-ssh-secret")) for arg in inv.args):
        machine.deny("sensitive_path", "Exports a private key.", inv)


def ssh_keygen(machine: Machine, inv: Invocation) -> None:
    """Looking at a key's fingerprint is harmless; changing or converting one is not."""
    args = inv.args
    if (
        "-f" in args[:-1]
        and not {"-l", "-y", "-B", "-F", "-R"} & set(args)
        and not any(re.match(r"-[lyB]+f?\Z", arg) for arg in args)
    ):
        path = args[args.index("-f") + 1]
        if "-p" in args or "-e" in args:
            effects.read(machine, inv, path)
        else:
            effects.write(machine, inv, path)


def security(machine: Machine, inv: Invocation) -> None:
    """The macOS keychain."""
    if inv.args[:1] and inv.args[0] in (
        "dump-keychain",
        "find-generic-password",
        "find-internet-password",
        "export",
    ):
        machine.ask("credential_read", "Reads the keychain.", inv)


def unshadow(machine: Machine, inv: Invocation) -> None:
    machine.deny("sensitive_path", "Reads the password table.", inv) if inv.args else None


def osascript(machine: Machine, inv: Invocation) -> None:
    text = " ".join(inv.args) + (inv.stdin.text or "")
    if re.search(
        r'"(?:System Events|Finder|loginwindow)".*(?:shut ?down|restart|«event aevtr(?:sdn|rst))',
        text,
        re.IGNORECASE | re.DOTALL,
    ):
        machine.deny("shutdown", "Halts or restarts the machine.", inv)


def cloud_token(machine: Machine, inv: Invocation) -> None:
    text = " ".join(inv.args).lower()
    if re.search(
        r"auth (?:application-default )?print-(?:access|identity)-token|auth token|account get-access-token",
        text,
    ):
        machine.ask("credential_read", "Prints an access token.", inv)


def tar(machine: Machine, inv: Invocation) -> None:
    """`-C folder` moves where the following members are read from; extraction writes there."""
    args = inv.args
    if not args:
        return
    bundle = args[0] if not is_option(args[0]) else ""
    folder = ""
    extracting = "x" in bundle or any(
        (re.match(r"-[A-Za-z]*x", arg) and arg[:2] != "--") or arg in ("--extract", "--get") for arg in args
    )
    reads = not extracting
    removes = any(len(arg) > 8 and "--remove-files".startswith(arg) for arg in args)
    index = 1 if bundle else 0
    if "f" in bundle and len(args) > 1:
        _archive(machine, inv, args[1], extracting)
        index = 2
    while index < len(args):
        arg = args[index]
        index += 1
        if arg in ("-C", "--directory", "--cd"):
            folder = args[index] if index < len(args) else ""
            index += 1
        elif arg.startswith("--directory="):
            folder = arg.partition("=")[2]
        elif arg in ("-T", "--files-from") or arg.startswith("--files-from="):
            listed = arg.partition("=")[2] or (args[index] if index < len(args) else "")
            index += arg in ("-T", "--files-from")
            for line in inv.state.files.get(resolve(listed, inv.place), "").splitlines()[:200]:
                effects.read(machine, inv, line)
        elif arg.startswith("--file=") or (
            re.match(r"-[A-Za-z]*f\Z", arg) and arg[:2] != "--" and index < len(args)
        ):
            name = arg.partition("=")[2] if arg.startswith("--") else args[index]
            index += not arg.startswith("--")
            _archive(machine, inv, name, extracting)
        elif not is_option(arg) and reads:
            effects.read_tree(machine, inv, f"{folder.rstrip('/')}/{arg}" if folder else arg)
            if removes:
                effects.delete_tree(machine, inv, f"{folder.rstrip('/')}/{arg}" if folder else arg)
            if folder:
                effects.read(machine, inv, f"{folder.rstrip('/')}/{arg}")
        elif not is_option(arg) and extracting and roots.is_credential(arg, inv.place):
            effects.write(machine, inv, f"{folder.rstrip('/')}/{arg}" if folder else arg)
    if extracting and folder:
        effects.unpack(machine, inv, folder)


def unzip(machine: Machine, inv: Invocation) -> None:
    """`-d folder` is where the members are written."""
    for folder in read_options(inv.args, OptionTable("dxP")).values("d"):
        effects.unpack(machine, inv, folder)


def cpio(machine: Machine, inv: Invocation) -> None:
    """`-i` unpacks below `-D folder`."""
    options = read_options(inv.args, OptionTable("FIOEHCDMR", names("file directory")))
    if options.has("i", "extract"):
        for folder in options.values("D", "directory"):
            effects.unpack(machine, inv, folder)


def _archive(machine: Machine, inv: Invocation, name: str, extracting: bool) -> None:
    if re.match(r"[\w.@-]+:", name):
        machine.ask("network_outbound", "Sends an archive to another machine.", inv)
    elif not extracting and name != "-":
        effects.write(machine, inv, name)


def sudo(machine: Machine, inv: Invocation) -> None:
    """`sudo -e file` edits files, as sudoedit does."""
    args = inv.args
    if any(arg in ("-e", "--edit") for arg in args):
        for path in args:
            if not is_option(path):
                effects.write(machine, inv, path)


SPECIAL: dict[str, Callable[[Machine, Invocation], None]] = {
    "docker": container,
    "podman": container,
    "nerdctl": container,
    "docker-compose": container,
    "getent": getent,
    "gpg": gpg,
    "gpg2": gpg,
    "ssh-keygen": ssh_keygen,
    "security": security,
    "unshadow": unshadow,
    "gcloud": cloud_token,
    "az": cloud_token,
    "gh": cloud_token,
    "osascript": osascript,
    "tar": tar,
    "gtar": tar,
    "bsdtar": tar,
    "unzip": unzip,
    "cpio": cpio,
    "sudo": sudo,
}


def judge_remote(machine: Machine, inv: Invocation) -> None:
    """`git archive --remote`, `pip install git+…`: arguments that reach out."""
    if inv.name == "git" and any(arg.startswith("--remote=") for arg in inv.args) and "archive" in inv.args:
        machine.ask("network_outbound", "Reaches a remote repository.", inv)
