"""Decides who judges a command: a function, a builtin, a wrapper, a shell, an interpreter, the rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import shellbuiltins
from echo_bot.policy.guards.shell.botcontrol import OWN_PROGRAMS, judge_bot_control
from echo_bot.policy.guards.shell.carriers import command_options, judge_carriers
from echo_bot.policy.guards.shell.commandoptions import COMMAND_OPTIONS
from echo_bot.policy.guards.shell.databases import judge_database
from echo_bot.policy.guards.shell.environment import judge_environment
from echo_bot.policy.guards.shell.hard import HARD_PROGRAMS, judge_hard
from echo_bot.policy.guards.shell.interpreters import interpret, interpreter_named
from echo_bot.policy.guards.shell.marks import UNKNOWN, UNKNOWN_FIELDS, has_glob, is_open, shown, unglobbed
from echo_bot.policy.guards.shell.operands import OPERANDS
from echo_bot.policy.guards.shell.options import names
from echo_bot.policy.guards.shell.outputs import output_of
from echo_bot.policy.guards.shell.paths import Place, matches, resolve
from echo_bot.policy.guards.shell.rules import options_for
from echo_bot.policy.guards.shell.searching import fd, find, parallel, xargs
from echo_bot.policy.guards.shell.shells import is_shell, script_file, shell
from echo_bot.policy.guards.shell.softrules import by_program
from echo_bot.policy.guards.shell.special import SPECIAL, judge_remote
from echo_bot.policy.guards.shell.touching import judge_touching
from echo_bot.policy.guards.shell.trampoline import Steps, call
from echo_bot.policy.guards.shell.wrappers import Unwrapped, unwrap, wrapper_named
from echo_bot.policy.guards.shell.wrappertable import WRAPPERS

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

Handler = Callable[["Machine", "Invocation"], Steps[str]]

_BUILTINS: dict[str, Handler] = {
    "cd": shellbuiltins.cd,
    "pushd": shellbuiltins.cd,
    "popd": shellbuiltins.cd,
    "chdir": shellbuiltins.cd,
    "set": shellbuiltins.set_options,
    "shift": shellbuiltins.shift,
    "let": shellbuiltins.let,
    "unset": shellbuiltins.unset,
    "export": shellbuiltins.declare,
    "declare": shellbuiltins.declare,
    "typeset": shellbuiltins.declare,
    "local": shellbuiltins.declare,
    "readonly": shellbuiltins.declare,
    "read": shellbuiltins.read,
    "getopts": shellbuiltins.getopts,
    "mapfile": shellbuiltins.mapfile,
    "readarray": shellbuiltins.mapfile,
    "printf": shellbuiltins.printf,
    "test": shellbuiltins.test,
    "[": shellbuiltins.test,
    "alias": shellbuiltins.alias,
    "hash": shellbuiltins.remember_path,
    "unalias": shellbuiltins.unalias,
    "eval": shellbuiltins.evaluate,
    "source": shellbuiltins.source,
    ".": shellbuiltins.source,
    "trap": shellbuiltins.trap,
    "complete": shellbuiltins.complete,
    "compgen": shellbuiltins.complete,
    "bind": shellbuiltins.complete,
    "enable": shellbuiltins.complete,
    "find": find,
    "gfind": find,
    "bfs": find,
    "fd": fd,
    "fdfind": fd,
    "xargs": xargs,
    "gxargs": xargs,
    "parallel": parallel,
}
_SHELL_INSIDE = names(
    "sudo su doas script unshare chroot nsenter pkexec runuser newgrp sg arch-chroot systemd-run"
)
_KNOWN_FOLDERS = ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin")
_MAX_CALLS = 40
_OTHER_PROGRAMS = names(
    "mkfs.ext4 mkfs.xfs sh bash dash zsh sudo env less head tail cat chmod chown wget python python3 perl "
    "ruby node php busybox od xxd"
)
_RULES = by_program()


def dispatch(machine: Machine, inv: Invocation) -> Steps[str]:
    """Judge one command with all its words known as far as they can be; the result is its output."""
    machine.charge(3)
    if not inv.argv:
        return ""
    if inv.env:
        yield from judge_environment(machine, inv, inv.env)
    word = inv.argv[0]
    if word == "":
        return ""
    if has_glob(word):
        return (yield from _globbed_name(machine, inv))
    if is_open(inv.name) or (word[:1] in (UNKNOWN, UNKNOWN_FIELDS) and "/" not in word):
        if not (inv.state.is_definition and word == UNKNOWN_FIELDS):
            machine.ask("unparsed", "Which program runs is not known before.", inv)
        yield from _cautious(machine, inv)
        return UNKNOWN
    if word in inv.state.functions:
        return (yield from _call_function(machine, inv))
    if word in inv.state.aliases and inv.state.calls.count("alias " + word) == 0:
        yield from _alias(machine, inv)
    return (yield from program(machine, inv))


def _cautious(machine: Machine, inv: Invocation) -> Steps[None]:
    """`$RUNNER rm -rf x`: what follows an unknown word may be the command."""
    if len(inv.argv) > 1 and inv.argv[0] == UNKNOWN_FIELDS:
        saved = machine.only_hard
        yield from _soft_only(machine, inv.inner(inv.argv[1:]))
        machine.only_hard = saved


def _soft_only(machine: Machine, inv: Invocation) -> Steps[None]:
    return
    yield


def _globbed_name(machine: Machine, inv: Invocation) -> Steps[str]:
    """`/bin/r?`: every well-known program the pattern fits."""
    word = inv.argv[0]
    folder, _, pattern = word.rpartition("/")
    found = False
    if folder and any(matches(folder, known) for known in _KNOWN_FOLDERS):
        first = pattern[:1].lower() if pattern[:1].isascii() else ""
        for name in _known_programs():
            if name.startswith(first) and matches(pattern, name):
                found = True
                machine.charge(4)
                yield from program(machine, inv.inner([name, *inv.args]))
    for name in OWN_PROGRAMS if matches(pattern, "echo-bot") or matches(pattern, "echo-agent") else ():
        judge_bot_control(machine, inv.inner([name, *inv.args]))
    if not found or not folder:
        machine.ask("unparsed", "Which program a pattern names is not known before.", inv)
    return UNKNOWN


@cache
def _known_programs() -> tuple[str, ...]:
    return tuple(sorted({*HARD_PROGRAMS, *OPERANDS, *SPECIAL, *_OTHER_PROGRAMS}))


def _call_function(machine: Machine, inv: Invocation) -> Steps[str]:
    name = inv.argv[0]
    state = inv.state
    if name in state.calls:
        if state.in_background:
            machine.deny(
                "shutdown", "A function that starts itself again and again exhausts the machine.", inv
            )
        return UNKNOWN
    if len(state.calls) > _MAX_CALLS:
        machine.ask("unparsed", "Functions are nested too deep to follow.", inv)
        return UNKNOWN
    machine.charge(10)
    saved = state.positional, state.calls, state.is_definition
    state.is_definition = state.is_definition and UNKNOWN_FIELDS in inv.args
    state.positional, state.calls = inv.args, (*state.calls, name)
    state.variables["FUNCNAME"] = [name, *state.calls[-2::-1]]
    try:
        return (yield from call(machine.node(state.functions[name], state, inv.stdin)))
    finally:
        state.positional, state.calls, state.is_definition = saved


def _alias(machine: Machine, inv: Invocation) -> Steps[None]:
    """Judged both ways: shells differ in when an alias counts."""
    state = inv.state.copy()
    state.calls = (*state.calls, "alias " + inv.argv[0])
    words = " ".join(
        "'" + unglobbed(word).replace("'", "'\\''") + "'" if not has_glob(word) else unglobbed(word)
        for word in inv.args
    )
    yield from call(
        machine.code(
            f"{shown(inv.state.aliases[inv.argv[0]], machine.home)} {words}", state, inv.stdin, inv.span
        )
    )


def program(machine: Machine, inv: Invocation, renamed: bool = False) -> Steps[str]:
    """A command that is no function: the most special reader first, the rules for all."""
    name = inv.name
    # Every level of wrappers holds a copy of the words behind it: the charge keeps their sum linear.
    machine.charge(len(inv.argv) // 16)
    if not renamed and inv.state.programs and (original := _original(inv)) is not None:
        return (yield from program(machine, inv.inner([original, *inv.args]), renamed=True))
    judge_bot_control(machine, inv)
    builtin = _BUILTINS.get(name)
    if builtin is not None and (
        inv.argv[0] == inv.name or name in ("find", "xargs", "parallel", "fd", "printf", "test", "[")
    ):
        if name == "printf" and "/" in inv.argv[0]:
            return output_of(inv)
        return (yield from builtin(machine, inv))
    if builtin is not None and inv.argv[0].lower() == name and name not in ("read",):
        return (yield from builtin(machine, inv))
    wrapper = wrapper_named(name)
    if wrapper is not None:
        unwrapped = unwrap(name, inv.args, wrapper)
        if unwrapped is not None and (unwrapped.argv or unwrapped.code):
            return (yield from _wrapped(machine, inv, unwrapped))
        if name in _SHELL_INSIDE and inv.stdin.text is not None and unwrapped is not None:
            return (yield from shell(machine, inv.inner(["sh"])))
    if is_shell(name):
        if any(arg[:1] == UNKNOWN_FIELDS for arg in inv.args):
            machine.ask("inline_interpreter", f"What {name} runs is not known before.", inv)
        return (yield from shell(machine, inv))
    entry = interpreter_named(name)
    output = UNKNOWN
    if entry is not None:
        output = yield from interpret(machine, inv, entry)
    _judge_by_rules(machine, inv)
    yield from judge_carriers(machine, inv)
    if "/" in inv.argv[0] and (entry is None or resolve(inv.argv[0], inv.place) in inv.state.files):
        yield from _path_in_command_position(machine, inv)
    return output_of(inv) if output == UNKNOWN else output


def _original(inv: Invocation) -> str | None:
    """What a program was called before this text copied or linked it to another name."""
    word, known = inv.argv[0], inv.state.programs
    if "/" in word:
        return known.get(resolve(word, Place(inv.state.cwd, inv.state.home)))
    return next((original for path, original in known.items() if path.endswith("/" + word)), None)


def _wrapped(machine: Machine, inv: Invocation, found: Unwrapped) -> Steps[str]:
    name, argv = inv.name, found.argv
    if name in ("env", "xargs"):
        machine.carries_code = True
    _judge_by_rules(machine, inv.inner(inv.argv), only_soft=True)
    if (options := COMMAND_OPTIONS.get(name)) is not None:
        own = inv.args[: len(inv.args) - len(argv)]
        yield from command_options(machine, inv.inner([name, *own]), options)
    yield from judge_environment(machine, inv, found.env)
    if found.folder:
        inv = replace(inv, state=inv.state.copy())
        inv.state.change_folder(resolve(found.folder, inv.place))
    if found.env:
        inv = replace(inv, state=inv.state.copy())
        inv.state.variables.update(found.env)
    output = UNKNOWN
    for text in found.code:
        machine.carries_code = True
        output = yield from call(
            machine.code(shown(text, machine.home), inv.state.copy(), inv.stdin, inv.span)
        )
    if argv and found.joins:
        machine.carries_code = True
        text = shown(" ".join(argv), machine.home)
        output = yield from call(machine.code(text, inv.state.copy(), inv.stdin, inv.span))
    elif argv:
        inner = inv.inner(_without_repeats(argv))
        inner.env = {}
        output = yield from call(dispatch_program(machine, inner))
    return output


def _without_repeats(argv: list[str]) -> list[str]:
    """`sudo sudo sudo x` runs x like `sudo x`."""
    count = 0
    while count + 2 < len(argv) and argv[count] == argv[count + 1] and argv[count] in WRAPPERS:
        count += 1
    return argv[count:] if count else argv


def dispatch_program(machine: Machine, inv: Invocation) -> Steps[str]:
    """The command behind a wrapper: never a function or an alias."""
    if is_open(inv.name) or inv.argv[0][:1] == UNKNOWN_FIELDS:
        machine.ask("unparsed", "Which program runs is not known before.", inv)
        return UNKNOWN
    if inv.argv[0] == "":
        return ""
    if has_glob(inv.argv[0]):
        return (yield from _globbed_name(machine, inv))
    return (yield from program(machine, inv))


def _path_in_command_position(machine: Machine, inv: Invocation) -> Steps[None]:
    """`./build.sh`: a script the caller binds the approval to, or one that this text wrote."""
    path = inv.argv[0]
    if path.startswith(_KNOWN_FOLDERS) or is_open(path):
        machine.script_files.setdefault(shown(path, machine.home)) if not is_open(path) else None
        return
    if inv.state.files.get(resolve(path, inv.place)) is not None:
        yield from script_file(machine, inv, path, inv.args)
    else:
        machine.script_files.setdefault(shown(path, machine.home))


def _judge_by_rules(machine: Machine, inv: Invocation, only_soft: bool = False) -> None:
    name = inv.name
    if not only_soft:
        if (
            inv.argv[0].startswith("/etc/init.d/")
            and inv.args[:1]
            and inv.args[0] not in ("status", "--help")
        ):
            machine.ask("service_control", "Controls a system service.", inv)
        judge_hard(machine, inv)
        special = SPECIAL.get(name)
        if special is not None:
            special(machine, inv)
        judge_database(machine, inv)
        judge_touching(machine, inv)
    rules = _RULES.get(name)
    if rules:
        options = options_for(name, [unglobbed(arg) for arg in inv.args])
        for rule in rules:
            if rule.fires(options):
                machine.find(rule.kind, rule.verdict, rule.sentence, inv.span)
        if (
            any(arg == UNKNOWN_FIELDS for arg in inv.args[:2])
            and rules[0].words
            and name in ("git", "kubectl", "systemctl")
        ):
            machine.ask(rules[0].kind, f"What {name} does is not known before.", inv)
    judge_remote(machine, inv)
