"""What tools that print paths say, as far as the command alone tells: which, pwd, ls, dirname, realpath, …"""

from __future__ import annotations

from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell.marks import UNKNOWN, has_glob, shown
from echo_bot.policy.guards.shell.options import OptionTable, read_options
from echo_bot.policy.guards.shell.paths import matches, resolve
from echo_bot.policy.guards.shell.roots import SYSTEM_ROOTS

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation


def which(inv: Invocation) -> str:
    found = [arg for arg in inv.args if arg[:1] != "-"]
    return "".join(f"/usr/bin/{name}\n" for name in found)


def command_lookup(inv: Invocation) -> str:
    return which(inv) if inv.args[:1] in (["-v"], ["-p"], ["-P"]) else UNKNOWN


def pwd(inv: Invocation) -> str:
    return shown(inv.state.cwd, inv.state.home) + "\n"


def ls(inv: Invocation) -> str:
    """`ls -d pattern` prints what the pattern stands for."""
    options = read_options(inv.args, OptionTable("IwT"))
    if options.has("d") and options.rest:
        return "\n".join(options.rest) + "\n"
    if options.rest and all(has_glob(path) for path in options.rest):
        return "\n".join(options.rest) + "\n"
    if [resolve(path, inv.place) for path in options.rest or ["."]] == ["/"]:
        return "\n".join(sorted(SYSTEM_ROOTS)) + "\n"
    return UNKNOWN


def globbed_roots(word: str, inv: Invocation) -> list[str]:
    """What a pattern that reaches over `/` stands for, as a shell would write it out: `/*`, `/???`."""
    if not has_glob(word):
        return [word]
    pattern = resolve(word, inv.place)
    if pattern.count("/") != 1:
        return [word]
    return [f"/{name}" for name in sorted(SYSTEM_ROOTS) if matches(pattern[1:], name)] or [word]


def dirname(inv: Invocation) -> str:
    path = (inv.args or ["."])[0].rstrip("/")
    return (path.rsplit("/", 1)[0] or "/" if "/" in path else "/" if not path else ".") + "\n"


def basename(inv: Invocation) -> str:
    args = [arg for arg in inv.args if arg[:1] != "-"] or [""]
    name = args[0].rstrip("/").rsplit("/", 1)[-1]
    return (name.removesuffix(args[1]) if len(args) > 1 else name) + "\n"


def realpath(inv: Invocation) -> str:
    return "".join(resolve(arg, inv.place) + "\n" for arg in inv.args if arg[:1] != "-")


def mktemp(inv: Invocation) -> str:
    return f"/tmp/tmp.{UNKNOWN}\n"
