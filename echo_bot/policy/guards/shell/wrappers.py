"""Programs that run another program: which of their words come before it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from echo_bot.policy.guards.shell.marks import UNKNOWN, UNKNOWN_FIELDS
from echo_bot.policy.guards.shell.options import Options, OptionTable, is_option, names, read_options

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.ASCII)


@dataclass(frozen=True, slots=True)
class Wrapper:
    """How to find the inner command.

    letters, long: options that take a value. skip: operands before the command. code: options whose value is
    shell text. stops: options with which nothing is run. subcommands: words behind which the command stands.
    assigns: NAME=value words may come first. joins: the words are joined and read by a shell.
    """

    letters: str = ""
    long: frozenset[str] = frozenset()
    skip: int = 0
    code: frozenset[str] = frozenset()
    stops: frozenset[str] = frozenset()
    subcommands: frozenset[str] = frozenset()
    assigns: bool = False
    joins: bool = False
    single_dash: bool = False
    optional_skip: str = ""


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """What a wrapper runs: argv, or shell text, with the assignments it makes."""

    argv: list[str]
    code: list[str]
    env: dict[str, str]
    joins: bool = False
    folder: str = ""


def w(
    letters: str = "",
    long: str = "",
    skip: int = 0,
    code: str = "",
    stops: str = "",
    subcommands: str = "",
    assigns: bool = False,
    joins: bool = False,
    single_dash: bool = False,
    optional_skip: str = "",
) -> Wrapper:
    return Wrapper(
        letters,
        names(long),
        skip,
        names(code),
        names(stops),
        names(subcommands),
        assigns,
        joins,
        single_dash,
        optional_skip,
    )


_ARCHITECTURE = (
    rf"(?:x86_64|i[3-6]86|linux(?:32|64)|aarch64\w*|arm\w*|ppc\w*|uname26|[{UNKNOWN}{UNKNOWN_FIELDS}])\Z"
)
WRAPPERS: dict[str, Wrapper] = {
    "sudo": w(
        "aCcDghpRrTtUu",
        "user group host prompt chdir chroot role type other-user close-from command-timeout auth-type",
        stops="l list v validate K remove-timestamp e edit V version h help",
        assigns=True,
    ),
    "doas": w("Cu", stops="L C"),
    "sudo-rs": w("ghpUuDR", assigns=True),
    "run0": w("uD", "user group chdir unit description property setenv nice slice", assigns=True),
    "pkexec": w("u", "user", stops="version help"),
    "gosu": w(skip=1),
    "su-exec": w(skip=1),
    "setuidgid": w(skip=1),
    "envdir": w(skip=1),
    "setlock": w(skip=1),
    "env": w(
        "uCSP",
        "unset chdir split-string argv0",
        assigns=True,
        stops="version help",
    ),
    "nohup": w(stops="version help"),
    "setsid": w(),
    "unbuffer": w(),
    "chronic": w(),
    "ifne": w(),
    "timeout": w("ks", "kill-after signal", skip=1, stops="version help"),
    "gtimeout": w("ks", "kill-after signal", skip=1),
    "timelimit": w("tTsSp"),
    "nice": w("n", "adjustment", stops="version help", optional_skip=r"-\d+\Z"),
    "ionice": w("cnpPu", "class classdata pid pgid uid", stops="p P u pid pgid uid"),
    "renice": w(),
    "stdbuf": w("ioe", "input output error"),
    "time": w("fo", "format output"),
    "gtime": w("fo", "format output"),
    "command": w(stops="v V"),
    "builtin": w(),
    "exec": w("a"),
    "noglob": w(),
    "nocorrect": w(),
    "-": w(),
    "chrt": w("TPD", "sched-runtime sched-period sched-deadline", skip=1, stops="p pid m max"),
    "taskset": w(skip=1, stops="p pid"),
    "numactl": w(
        "CcNmpiI", "cpunodebind physcpubind membind interleave preferred", stops="H hardware s show"
    ),
    "strace": w("abeEIoOpPsSuUX", "trace attach output string-limit user env", stops="V"),
    "ltrace": w("aADeFlnopsuwxX"),
    "ptrace": w(),
    "perf": w("eopFCc", subcommands="stat record trace"),
    "valgrind": w(),
    "catchsegv": w(),
    "rlwrap": w("bCDfgHlMOPqsStwz"),
    "busybox": w(stops="list list-full install help"),
    "toybox": w(stops="long help version"),
    "su": w(
        "cgGsw",
        "command group supp-group shell whitelist-environment session-command",
        code="c command session-command",
        skip=1,
    ),
    "runuser": w(
        "cgGsuw", "command group supp-group shell session-command user", code="c command session-command"
    ),
    "sg": w("c", skip=1, code="c", joins=True),
    "newgrp": w(skip=1),
    "setpriv": w(
        "",
        "reuid regid groups inh-caps bounding-set ambient-caps securebits selinux-label apparmor-profile",
        stops="d dump",
    ),
    "chroot": w("", "groups userspec", skip=1),
    "proot": w("rbmqkwvi", "rootfs bind mount cwd kernel-release"),
    "fakechroot": w("ebc"),
    "fakeroot": w("lsibf", "lib faked"),
    "schroot": w("cupd", "chroot user"),
    "arch-chroot": w("u", skip=1),
    "systemd-nspawn": w("DMu", "directory machine user bind"),
    "nsenter": w("tSG", "target setuid setgid"),
    "unshare": w("SGRw", "setuid setgid root wd map-user map-group propagation"),
    "flock": w("wEc", "timeout conflict-exit-code wait command", skip=1, code="c command"),
    "lockf": w("t", skip=1),
    "script": w("cEIOBTmo", "command log-in log-out log-io log-timing", code="c command", skip=9),
    "scriptreplay": w(),
    "watch": w("nq", "interval equexit", joins=True, stops="v version h help"),
    "systemd-run": w(
        "pHMuE",
        "property unit description slice uid gid nice service-type working-directory setenv "
        "on-active on-boot "
        "on-calendar host machine timer-property",
        assigns=False,
        stops="version help",
    ),
    "systemd-inhibit": w("", "what who why mode", stops="list"),
    "systemd-cat": w("tp", "identifier priority"),
    "caffeinate": w("tw"),
    "dbus-run-session": w("", "config-file dbus-daemon"),
    "dbus-launch": w(),
    "xvfb-run": w("efnpsw", "error-file auth-file server-num server-args wait"),
    "firejail": w(),
    "cgexec": w("g"),
    "prlimit": w("p", "pid"),
    "cpulimit": w("lpe", "limit pid exe"),
    "softlimit": w("adflmnoprst"),
    "chpst": w("uUbe/nlLmdopfcrts"),
    "daemonize": w("cepoluE"),
    "daemon": w("nuDFPMolCX"),
    "faketime": w("p", skip=1),
    "torsocks": w(),
    "torify": w(),
    "proxychains": w("f"),
    "proxychains4": w("f"),
    "tsocks": w(),
    "hyperfine": w(
        "wrmMpcSnLDPs",
        "warmup runs min-runs max-runs prepare cleanup setup shell export-json export-markdown",
        joins=True,
    ),
    "uv": w("p", "with python project directory env-file", subcommands="run tool"),
    "uvx": w("", "from with python"),
    "poetry": w("C", "directory", subcommands="run"),
    "pipenv": w(subcommands="run"),
    "pdm": w("p", subcommands="run"),
    "rye": w(subcommands="run"),
    "hatch": w("e", "env", subcommands="run"),
    "pixi": w(subcommands="run"),
    "conda": w("np", "name prefix", subcommands="run"),
    "mamba": w("np", "name prefix", subcommands="run"),
    "micromamba": w("np", subcommands="run"),
    "bundle": w(subcommands="exec"),
    "npx": w("pc", "package call", code="c call"),
    "bunx": w(),
    "pipx": w(subcommands="run"),
    "direnv": w(subcommands="exec", skip=1),
    "mise": w(subcommands="--"),
    "asdf": w(subcommands="exec"),
    "rbenv": w(subcommands="exec"),
    "pyenv": w(subcommands="exec"),
    "nodenv": w(subcommands="exec"),
    "dotenv": w("fe", "file", subcommands="run --"),
    "op": w("", "env-file", subcommands="run"),
    "doppler": w("pc", "project config", subcommands="run"),
    "aws-vault": w(subcommands="exec", skip=1),
    "chamber": w(subcommands="exec", skip=1),
    "pnpm": w(subcommands="exec dlx", code="c shell-mode"),
    "yarn": w(subcommands="exec dlx"),
    "npm": w("c", "call", subcommands="exec x", code="c call"),
    "xterm": w("TnbdDfgGhlsStuvwz", "T title geometry fn fa bg fg", single_dash=True, subcommands="-e"),
    "uxterm": w(single_dash=True, subcommands="-e"),
    "rxvt": w(single_dash=True, subcommands="-e"),
    "urxvt": w(single_dash=True, subcommands="-e"),
    "st": w(single_dash=True, subcommands="-e"),
    "alacritty": w(subcommands="-e --command"),
    "kitty": w(),
    "konsole": w(subcommands="-e"),
    "foot": w(),
    "wezterm": w(subcommands="start"),
    "gnome-terminal": w(subcommands="-- -x"),
    "xfce4-terminal": w(subcommands="-x -e"),
    "lxterminal": w(subcommands="-e"),
    "terminator": w(subcommands="-x -e"),
    "x-terminal-emulator": w(subcommands="-e"),
    "ld.so": w("", "library-path preload audit argv0"),
    "nix": w(subcommands="-c --command"),
    "guix": w(subcommands="--"),
    "toolbox": w("c", "container", subcommands="run"),
    "distrobox": w("n", "name", subcommands="--"),
    "tsp": w("LNDW"),
    "ts": w("LNDW"),
    "sem": w("jS", "jobs id"),
    "nq": w(),
    "batch_run": w(),
    "dumb-init": w(),
    "tini": w("ep"),
    "catatonit": w(),
    "s6-setuidgid": w(skip=1),
    "with-contenv": w(),
    "aa-exec": w("pn", "profile namespace"),
    "runcon": w("turl", "type user role range", optional_skip=r"[^/\s:]+:[^/\s:]+:\S+\Z"),
    "choom": w("np"),
    "uclampset": w("mMp"),
    "coproc": w(),
    "eatmydata": w(),
    "dotnet-exec": w(),
    "entr": w("s", code="s"),
    "retry": w("tdm", "times delay max"),
    "parallel-run": w(),
    "screen": w("cehpsSTt", stops="ls list r x"),
    "abduco": w("e", skip=1),
    "dtach": w("re", skip=1),
    "expect_unbuffer": w(),
    "annotate-output": w(),
    "exec-path": w(),
    "winpty": w(),
    "linux32": w(),
    "linux64": w(),
    "setarch": w(optional_skip=_ARCHITECTURE),
    "lxc-attach": w("n", "name", subcommands="--"),
    "machinectl": w("uM", "uid machine setenv", skip=1, subcommands="shell"),
    "crictl": w("r", skip=1, subcommands="exec"),
    "pct": w(skip=1, subcommands="exec"),
    "i386": w(),
    "arch": w("", "arch", single_dash=True),
    "ssh-agent": w("atOP", stops="k"),
    "flatpak-spawn": w("", "forward-fd env directory", stops="help"),
    "wsl": w("du", "distribution user cd exec", stops="l list shutdown status version help"),
    "x86_64": w(),
    "uname26": w(),
    "cset": w(),
    "trickle": w("duw"),
    "ddate_run": w(),
}
_FOLDER_OPTIONS = {"env": ("C", "chdir"), "sudo": ("D", "chdir"), "systemd-run": ("working-directory",)}
_LOADER = re.compile(r"ld-(?:linux|musl)[\w.-]*\.so(?:\.\d+)?\Z")


def wrapper_named(name: str) -> Wrapper | None:
    if name in WRAPPERS:
        return WRAPPERS[name]
    return WRAPPERS["ld.so"] if _LOADER.match(name) else None


def unwrap(name: str, args: list[str], wrapper: Wrapper) -> Unwrapped | None:
    """What the wrapper runs; None where it runs nothing."""
    if wrapper.subcommands:
        return _behind_subcommand(args, wrapper)
    table = OptionTable(wrapper.letters, wrapper.long, wrapper.single_dash)
    env: dict[str, str] = {}
    code: list[str] = []
    folder = ""
    rest = args
    skip = wrapper.skip
    while True:
        options = read_options(rest, table, permute=False)
        if options.has(*wrapper.stops) and not (name == "command" and options.has("p")):
            return None
        if name == "env" and (split := options.values("S", "split-string")):
            code.extend(split)
        code.extend(options.values(*wrapper.code))
        if name in ("env", "sudo", "proot", "systemd-run", "run0"):
            folder = next(iter(options.values(*_FOLDER_OPTIONS.get(name, ("chdir",)))), folder)
        rest = options.rest
        if name in ("su", "runuser") and not code:
            code, rest = _later_code(rest, code)
        count = 0
        while wrapper.assigns and count < len(rest) and _ASSIGNMENT.match(rest[count]):
            key, _, value = rest[count].partition("=")
            env[key] = value
            count += 1
        rest = rest[count:]
        if wrapper.optional_skip and rest and re.match(wrapper.optional_skip, rest[0]):
            rest = rest[1:]
            if rest and is_option(rest[0]):
                continue
        if rest[:1] and rest[0] in ("-", "--") and name in ("env", "su", "nice"):
            rest = rest[1:]
            continue
        if skip and rest and rest[0] != UNKNOWN_FIELDS:
            rest, skip = rest[1:], skip - 1
            if name in ("su", "flock", "sg", "script", "setpriv") or (rest and rest[0][:1] == "-"):
                continue
            rest, skip = rest[skip:], 0
        break
    if name == "env" and code:
        return Unwrapped([], [" ".join([*code, *map(_quoted, rest)])], env, folder=folder)
    if code:
        return Unwrapped([], code, env, folder=folder)
    return Unwrapped(rest, [], env, wrapper.joins, folder)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _later_code(rest: list[str], code: list[str]) -> tuple[list[str], list[str]]:
    """`su root -c code`: options may follow the user's name."""
    for index, word in enumerate(rest[:-1]):
        if word in ("-c", "--command", "-lc"):
            return [*code, rest[index + 1]], []
        if word.startswith("--command="):
            return [*code, word.partition("=")[2]], []
    return code, rest


def _behind_subcommand(args: list[str], wrapper: Wrapper) -> Unwrapped | None:
    """`uv run cmd`, `xterm -e cmd`, `gnome-terminal -- cmd`."""
    for index, word in enumerate(args):
        if word not in wrapper.subcommands:
            continue
        table = OptionTable(wrapper.letters, wrapper.long)
        options: Options = read_options(args[index + 1 :], table, permute=False)
        if code := options.values(*wrapper.code):
            return Unwrapped([], code, {})
        rest = options.rest[wrapper.skip :]
        rest = rest[1:] if rest[:1] == ["--"] else rest
        joins = len(rest) == 1 and " " in rest[0]
        return Unwrapped(rest, [], {}, joins) if rest else None
    if wrapper.code:
        options = read_options(args, OptionTable(wrapper.letters, wrapper.long), permute=False)
        if code := options.values(*wrapper.code):
            return Unwrapped([], code, {})
    return None
