"""Shells: where their program text comes from, and what is known of it."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import effects
from echo_bot.policy.guards.shell.marks import UNKNOWN, UNKNOWN_FIELDS, is_open, is_plain, shown, unglobbed
from echo_bot.policy.guards.shell.options import OptionTable, is_option, names
from echo_bot.policy.guards.shell.paths import resolve
from echo_bot.policy.guards.shell.trampoline import Steps, call

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

_SHELL = re.compile(
    r"(?:r?bash|sh|dash|r?zsh|[rpom]?ksh(?:93|88)?|mksh|ash|posh|yash|fish|t?csh|hush|"
    r"elvish|nu|xonsh|oil|osh|ysh|pwsh|powershell(?:\.exe)?|cmd(?:\.exe)?)"
    r"(?:-?\d[\d.]*)?\Z"
)
_VALUES = OptionTable("oO", names("rcfile init-file command init-command"))
_STDIN = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})


def is_shell(name: str) -> bool:
    return _SHELL.match(name) is not None


def shell(machine: Machine, inv: Invocation) -> Steps[str]:
    """A shell called with code, with a script file, or reading standard input."""
    args = inv.args
    carried, operands, flags = (
        _read_powershell(inv.name, args)
        if inv.name.startswith(("pwsh", "powershell"))
        else _read_arguments(args)
    )
    if flags & {"version", "help", "dump-strings", "dump-po-strings"} or (args and args == ["-V"]):
        return UNKNOWN
    state = inv.state.copy()
    state.variables.update(inv.env)
    state.aliases = {}
    state.calls = ()
    if carried is not None:
        machine.carries_code = True
        machine.ask("inline_interpreter", f"Runs program text given to {inv.name} on the command line.", inv)
        if operands:
            state.script_name, state.positional = operands[0], operands[1:]
        if is_open(carried) and not carried.strip(UNKNOWN + UNKNOWN_FIELDS + " "):
            machine.ask("pipe_to_shell", f"Runs text in {inv.name} that is not known before.", inv)
            return UNKNOWN
        code = shown(carried, state.home)
        return (yield from call(machine.code(code, state, inv.stdin, inv.span)))
    for name, following in zip(args, [*args[1:], ""], strict=False):
        flag, equals, path = name.partition("=")
        if flag in ("--rcfile", "--init-file"):
            yield from script_file(machine, inv, path if equals else following, [])
    syntax_only = "n" in flags
    if operands and "s" not in flags and operands[0] not in _STDIN:
        if operands[0] == UNKNOWN_FIELDS:
            machine.ask("pipe_to_shell", f"What {inv.name} runs is not known before.", inv)
            return UNKNOWN
        return (yield from script_file(machine, inv, operands[0], operands[1:], syntax_only))
    if operands and "s" in flags:
        state.positional = operands
    return (yield from from_input(machine, inv, state, syntax_only))


_POWERSHELL_VALUES = ("-ex", "-ep", "-v", "-w", "-i", "-o", "-ps", "-cus", "-set")


def _read_powershell(name: str, args: list[str]) -> tuple[str | None, list[str], set[str]]:
    """PowerShell's options are words, may be cut short, and know no letter case.

    Without one, pwsh takes its first word for a script and powershell for a command.
    """
    index = 0
    while index < len(args):
        word = args[index].lower()
        index += 1
        if len(word) > 1 and ("-command".startswith(word) or "-commandwithargs".startswith(word)):
            return " ".join(args[index:]), [], set()
        if len(word) > 1 and ("-encodedcommand".startswith(word) or word == "-ec"):
            return _decoded((args[index : index + 1] or [""])[0]), [], set()
        if len(word) > 1 and "-file".startswith(word):
            return None, args[index:], set()
        if not is_option(word) and name.startswith("powershell") and not word.endswith(".ps1"):
            return " ".join(args[index - 1 :]), [], set()
        if not is_option(word):
            return None, args[index - 1 :], set()
        index += word.startswith(_POWERSHELL_VALUES)
    return None, [], set()


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode("utf-16-le")
    except ValueError:
        return UNKNOWN


def _read_arguments(args: list[str]) -> tuple[str | None, list[str], set[str]]:
    """The carried code (if any), the operands, and the option names."""
    flags: set[str] = set()
    takes_code = False
    index = 0
    while index < len(args):
        arg = args[index]
        if arg in ("--", "-"):
            index += 1
            break
        if (
            arg.lower() in ("-command", "-c", "-encodedcommand", "/c", "/k", "-commandwithargs")
            and arg[:2] != "--"
        ):
            takes_code, index = True, index + 1
            continue
        if not is_option(arg) and not re.fullmatch(r"\+[A-Za-z]+", arg):
            break
        index += 1
        if arg.startswith("--"):
            name, equals, value = arg[2:].partition("=")
            flags.add(name)
            if name in ("command", "init-command"):
                return (value if equals else (args[index : index + 1] or [""])[0]), args[index + 1 :], flags
            index += name in _VALUES.names and not equals
            continue
        letters = arg[1:]
        takes_code = takes_code or "c" in letters or "C" in letters
        flags.update(letters)
        index += sum(letter in "oO" for letter in letters)
    if takes_code:
        return (args[index] if index < len(args) else ""), args[index + 1 :], flags
    return None, args[index:], flags


def from_input(machine: Machine, inv: Invocation, state: object, syntax_only: bool = False) -> Steps[str]:
    """Code from a pipe, a here-document or a here-string."""
    from echo_bot.policy.guards.shell.state import State
    from echo_bot.policy.guards.shell.stream import Stream

    assert isinstance(state, State)
    text = inv.stdin.text
    if text is None and machine.loops and inv.state.in_background and not syntax_only:
        machine.deny("shutdown", "Starts shells without end.", inv)
    if text is None or syntax_only:
        return UNKNOWN
    machine.carries_code = True
    machine.ask("pipe_to_shell", f"Feeds text to {inv.name}, which runs it.", inv)
    inv.stdin.text = ""
    return (yield from call(machine.code(text, state, Stream(UNKNOWN), inv.span)))


def script_file(
    machine: Machine, inv: Invocation, path: str, arguments: list[str], syntax_only: bool = False
) -> Steps[str]:
    """A script: judged where this very text wrote it, else named in the report."""
    target = resolve(path, inv.place)
    content = inv.state.files.get(target)
    if content is None and path.startswith("/dev/fd/"):
        content = UNKNOWN
    if syntax_only:
        return UNKNOWN
    if content is None:
        effects.read(machine, inv, path)
        if is_plain(path):
            machine.script_files.setdefault(shown(unglobbed(path), machine.home))
        if is_open(path):
            machine.ask("pipe_to_shell", f"Which script {inv.name} runs is not known before.", inv)
        return UNKNOWN
    machine.carries_code = True
    if path.startswith("/dev/") or is_open(content):
        machine.ask("pipe_to_shell", f"Feeds text to {inv.name}, which runs it.", inv)
    state = inv.state.copy()
    state.script_name, state.positional = path, arguments
    return (yield from call(machine.code(content, state, inv.stdin, inv.span)))


def evaluated(machine: Machine, inv: Invocation, text: str) -> Steps[str]:
    """`eval`: text run in this very shell."""
    machine.carries_code = True
    machine.ask("pipe_to_shell", "Runs text that is put together first.", inv)
    return (yield from call(machine.code(shown(text, machine.home), inv.state, inv.stdin, inv.span)))
