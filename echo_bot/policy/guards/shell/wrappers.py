"""Programs that run another program: which of their words come before it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from echo_bot.policy.guards.shell.marks import UNKNOWN_FIELDS
from echo_bot.policy.guards.shell.options import Options, OptionTable, is_option, read_options
from echo_bot.policy.guards.shell.wrappertable import WRAPPERS, Wrapper

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.ASCII)


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """What a wrapper runs: argv, or shell text, with the assignments it makes."""

    argv: list[str]
    code: list[str]
    env: dict[str, str]
    joins: bool = False
    folder: str = ""


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
