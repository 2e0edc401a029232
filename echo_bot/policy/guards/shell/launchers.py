"""Programs with a place of their own for the command they run: cmake -E, ip netns exec, docker exec, …"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import effects
from echo_bot.policy.guards.shell.makefiles import make
from echo_bot.policy.guards.shell.marks import HOME
from echo_bot.policy.guards.shell.options import OptionTable, is_option, names, read_options
from echo_bot.policy.guards.shell.started import started
from echo_bot.policy.guards.shell.trampoline import Steps, call

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

Reader = Callable[["Machine", "Invocation"], Steps[None]]


def _run(machine: Machine, inv: Invocation, argv: list[str]) -> Steps[None]:
    if argv[:1] == ["--"]:
        argv = argv[1:]
    if argv:
        # Every word was looked at as a possible path on this level too: chains of launchers stay cheap.
        machine.charge(16 * len(argv))
        yield from call(machine.dispatch(machine, inv.inner(argv)))


def _behind(args: list[str], mark: str) -> list[str]:
    return args[args.index(mark) + 1 :] if mark in args else []


def _operands(args: list[str], letters: str, long: str = "") -> list[str]:
    return read_options(args, OptionTable(letters, names(long)), permute=False).rest


def _capsh(machine: Machine, inv: Invocation) -> Steps[None]:
    """capsh hands what follows `--` to bash."""
    rest = _behind(inv.args, "--") or _behind(inv.args, "==")
    if rest:
        yield from _run(machine, inv, ["bash", *rest])


def _start_stop_daemon(machine: Machine, inv: Invocation) -> Steps[None]:
    given = read_options(
        ["-S" if arg == "--start" else arg for arg in inv.args],
        OptionTable(
            "xapnusgkdNcrRPI", names("exec startas pidfile name user signal group chroot chdir chuid")
        ),
    )
    programs = given.values("x", "exec", "a", "startas")
    if programs and given.has("S"):
        yield from _run(machine, inv, [programs[-1], *_behind(inv.args, "--")])


def _nix(machine: Machine, inv: Invocation) -> Steps[None]:
    for flag, value in zip(inv.args, inv.args[1:], strict=False):
        if flag in ("--run", "--command"):
            yield from started(machine, inv, value)


def _coreutils(machine: Machine, inv: Invocation) -> Steps[None]:
    flag, equals, program = (inv.args or [""])[0].partition("=")
    if equals and flag.startswith("--coreutils-prog"):
        yield from _run(machine, inv, [program, *inv.args[1:]])


_CMAKE = {
    "rm": "rm",
    "remove": "rm",
    "copy": "cp",
    "rename": "mv",
    "env": "env",
    "touch": "touch",
    "tar": "tar",
}


def _cmake(machine: Machine, inv: Invocation) -> Steps[None]:
    """`cmake -E tool …`: small portable versions of the usual tools."""
    rest = _behind(inv.args, "-E")
    if rest[:1] == ["time"]:
        yield from _run(machine, inv, rest[1:])
    elif rest[:1] == ["chdir"]:
        yield from _run(machine, inv, ["env", "-C", *rest[1:]])
    elif rest[:1] == ["remove_directory"]:
        yield from _run(machine, inv, ["rm", "-r", *rest[1:]])
    elif rest and rest[0] in _CMAKE:
        yield from _run(machine, inv, [_CMAKE[rest[0]], *rest[1:]])


def _ip(machine: Machine, inv: Invocation) -> Steps[None]:
    words = [index for index, arg in enumerate(inv.args) if arg == "exec"]
    if words and {"netns", "vrf", "net", "v"} & set(inv.args[: words[0]]):
        yield from _run(machine, inv, inv.args[words[0] + 2 :])


def _each_word(machine: Machine, inv: Invocation) -> Steps[None]:
    """Every operand is a command line of its own."""
    for text in _operands(inv.args, "npkcsm", "names prefix kill-others prefix-colors"):
        yield from started(machine, inv, text)


def _watchexec(machine: Machine, inv: Invocation) -> Steps[None]:
    rest = _operands(inv.args, "wefiosdEN", "watch exts filter ignore signal debounce shell on-busy-update")
    if rest:
        yield from started(machine, inv, " ".join(rest))


_RUN_LETTERS = "efhlmpuvwac"
_RUN_OPTIONS = (
    "env env-file file hostname label memory mount name network net pid platform publish user userns volume "
    "workdir entrypoint cpus gpus ipc restart add-host cap-add cap-drop device tmpfs ulimit security-opt "
    "index namespace container context kubeconfig pod-running-timeout project-name detach-keys cidfile "
    "shm-size"
)


def _container(machine: Machine, inv: Invocation) -> Steps[None]:
    """`docker run image cmd`, `docker exec name cmd`: what runs inside asks at most."""
    for index, word in enumerate(inv.args[:6]):
        if word in ("run", "exec"):
            letters = _RUN_LETTERS if inv.name != "kubectl" else "nc"
            args = inv.args[index + 1 :]
            rest = _operands(args, letters, _RUN_OPTIONS)
            yield from _inside(machine, inv, rest[1:])
            if rest[1:]:
                yield from _on_the_host(machine, inv, args[: len(args) - len(rest)], rest[1:])
            return


_MOUNT = re.compile(r"(?:source|src)=([^,]+)(?:,.*)?,(?:target|destination|dst)=([^,]+)")


def _in_host_processes(options: list[str]) -> bool:
    shares = "--pid=host" in options or ("--pid", "host") in pairwise(options)
    return shares and "--privileged" in options


def _on_the_host(machine: Machine, inv: Invocation, options: list[str], argv: list[str]) -> Steps[None]:
    """What a command in a container does to the host, through its mounts or from the host's namespaces."""
    mounts: dict[str, str] = {}
    for flag, value in zip(["", *options], [*options, ""], strict=True):
        text = value.partition("=")[2] if value.startswith(("--volume=", "--mount=")) else value
        if flag in ("-v", "--volume") or value.startswith("--volume="):
            source, _, target = text.partition(":")
            mounts[target.partition(":")[0].rstrip("/")] = source
        elif (flag == "--mount" or value.startswith("--mount=")) and (found := _MOUNT.search(text)):
            mounts[found.group(2).rstrip("/")] = found.group(1)
    if argv[0].rsplit("/", 1)[-1] == "nsenter" and _in_host_processes(options):
        yield from _run(machine, inv, argv)
        return
    if argv[0] == "chroot" and len(argv) > 2 and mounts.get(argv[1].rstrip("/")) == "/":
        yield from _run(machine, inv, argv[2:])
        return
    known = {target: source for target, source in mounts.items() if target and source[:1] in ("/", "~", HOME)}
    if known:
        places = "|".join(re.escape(target) for target in sorted(known, key=len, reverse=True))
        mounted = re.compile(rf"(?<![\w./~-])(?:({places})(?=/|[^\w.-]|\Z)|/)(?=(/)?)")

        def on_the_host(found: re.Match[str]) -> str:
            if not found.group(1):
                return "/container/"
            source = known[found.group(1)]
            return source.rstrip("/") if found.group(2) else source

        yield from _run(machine, inv, [mounted.sub(on_the_host, word) for word in argv])


def _kubectl(machine: Machine, inv: Invocation) -> Steps[None]:
    for arg in inv.args:
        if arg.startswith(("--from-file=", "--from-env-file=")):
            effects.read(machine, inv, arg.rsplit("=", 1)[-1])
    if {"exec", "debug", "run"} & set(inv.args[:6]):
        yield from _inside(machine, inv, _behind(inv.args, "--"))
    elif inv.args[:1] == ["cp"]:
        _copied(machine, inv, inv.args[1:])


def _docker(machine: Machine, inv: Invocation) -> Steps[None]:
    words = [arg for arg in inv.args if not is_option(arg)]
    if words[:1] == ["cp"]:
        _copied(machine, inv, words[1:])
    yield from _container(machine, inv)


def _inside(machine: Machine, inv: Invocation, argv: list[str]) -> Steps[None]:
    saved = machine.asks_at_most
    machine.asks_at_most = True
    try:
        yield from _run(machine, inv, argv)
    finally:
        machine.asks_at_most = saved


def _copied(machine: Machine, inv: Invocation, operands: list[str]) -> None:
    """Copies into and out of a container: `name:path` lies inside."""
    paths = [arg for arg in operands if not is_option(arg)]
    for number, path in enumerate(paths[:2]):
        if ":" not in path.split("/", 1)[0]:
            (effects.write if number else effects.read)(machine, inv, path)


def _aws(machine: Machine, inv: Invocation) -> Steps[None]:
    words = [arg for arg in inv.args if not is_option(arg)]
    if words[:1] == ["s3"] and words[1:2] and words[1] in ("cp", "mv", "sync"):
        for path in words[2:4]:
            if "://" not in path:
                effects.read(machine, inv, path)
    return
    yield


def _remote(machine: Machine, inv: Invocation) -> Steps[None]:
    """Clients that run a command on other machines: judged like a local one, as ssh is."""
    rest = _operands(inv.args, "hHlptoexwfuOgS", "hosts host user par timeout options outdir errdir")
    if rest:
        yield from started(machine, inv, " ".join(rest))


def _option_text(*flags: str) -> Reader:
    def reader(machine: Machine, inv: Invocation) -> Steps[None]:
        for index, arg in enumerate(inv.args):
            flag, equals, value = arg.partition("=")
            if flag in flags:
                text = value if equals else "".join(inv.args[index + 1 : index + 2])
                yield from started(machine, inv, text)

    return reader


def _adb(machine: Machine, inv: Invocation) -> Steps[None]:
    if rest := _behind(inv.args, "shell"):
        yield from started(machine, inv, " ".join(rest))


def _lxc(machine: Machine, inv: Invocation) -> Steps[None]:
    if inv.args[:1] == ["exec"]:
        yield from _inside(machine, inv, _behind(inv.args, "--") or inv.args[2:])


def _cpio(machine: Machine, inv: Invocation) -> Steps[None]:
    """`cpio -o` reads the names of the files it archives."""
    if any(arg.startswith(("-o", "-p", "--create", "--pass")) for arg in inv.args):
        for line in (inv.stdin.text or "").splitlines()[:200]:
            effects.read(machine, inv, line)
    return
    yield


def _gdb(machine: Machine, inv: Invocation) -> Steps[None]:
    yield from _run(machine, inv, _behind(inv.args, "--args"))


def _stuff(machine: Machine, inv: Invocation) -> Steps[None]:
    """`screen -X stuff text` types the text into a session."""
    text = re.sub(r"\^[MJ]|\\[nr]|\\01[25]|[\r\n]", "\n", " ".join(inv.args))
    yield from started(machine, inv, text)


def _npm(machine: Machine, inv: Invocation) -> Steps[None]:
    """`npm pkg set scripts.x=text`: what a later `npm run x` would start."""
    if inv.args[:2] == ["pkg", "set"]:
        for arg in inv.args[2:]:
            name, _, text = arg.partition("=")
            if name.startswith("scripts."):
                yield from started(machine, inv, text)


def _m4(machine: Machine, inv: Invocation) -> Steps[None]:
    """The macros that run a shell command."""
    for found in re.finditer(r"\be?syscmd\s*\(\s*`?([^')]*)", inv.stdin.text or ""):
        yield from started(machine, inv, found.group(1))


_BWRAP_TWO = names(
    "--bind --bind-try --dev-bind --dev-bind-try --ro-bind --ro-bind-try --symlink --setenv --file "
    "--bind-data --ro-bind-data --chmod"
)
_BWRAP_NONE = names("--clearenv --new-session --die-with-parent --as-pid-1 --disable-userns")


def _bwrap(machine: Machine, inv: Invocation) -> Steps[None]:
    """bubblewrap's options take none, one or two values; the command follows them."""
    args, index = inv.args, 0
    while index < len(args) and is_option(args[index]) and args[index] != "--":
        word = args[index]
        none = word in _BWRAP_NONE or word.startswith(("--unshare", "--share"))
        index += 3 if word in _BWRAP_TWO else 1 if none else 2
    yield from _run(machine, inv, args[index:])


LAUNCHERS: dict[str, Reader] = {
    "capsh": _capsh,
    "start-stop-daemon": _start_stop_daemon,
    "nix-shell": _nix,
    "nix": _nix,
    "coreutils": _coreutils,
    "cmake": _cmake,
    "ip": _ip,
    "concurrently": _each_word,
    "watchexec": _watchexec,
    "docker": _docker,
    "podman": _docker,
    "nerdctl": _docker,
    "docker-compose": _container,
    "kubectl": _kubectl,
    "oc": _kubectl,
    "lxc": _lxc,
    "incus": _lxc,
    "aws": _aws,
    "ansible": _option_text("-a", "--args"),
    "vagrant": _option_text("-c", "--command"),
    "gcloud": _option_text("--command"),
    "pssh": _remote,
    "parallel-ssh": _remote,
    "pdsh": _remote,
    "clush": _remote,
    "adb": _adb,
    "cpio": _cpio,
    "bwrap": _bwrap,
    "m4": _m4,
    "gm4": _m4,
    "gdb": _gdb,
    "stuff": _stuff,
    "npm": _npm,
    "make": make,
    "gmake": make,
}
