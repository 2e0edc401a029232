"""Builtins that change what the shell knows, or run text: cd, set, export, read, eval, source, trap, …"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import effects, outputs
from echo_bot.policy.guards.shell.calculate import calculated
from echo_bot.policy.guards.shell.environment import judge_environment
from echo_bot.policy.guards.shell.marks import HOME, ITEM, UNKNOWN, UNKNOWN_FIELDS, is_open, shown, unglobbed
from echo_bot.policy.guards.shell.options import is_option
from echo_bot.policy.guards.shell.paths import resolve
from echo_bot.policy.guards.shell.shells import evaluated, from_input, script_file
from echo_bot.policy.guards.shell.state import MAX_ITEMS
from echo_bot.policy.guards.shell.trampoline import Steps, call

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

_ASSIGN = re.compile(r"([A-Za-z_]\w*)(?:\[([^\]]*)\])?(\+?)=(.*)\Z", re.DOTALL | re.ASCII)


def cd(machine: Machine, inv: Invocation) -> Steps[str]:
    operands = [arg for arg in inv.args if not re.fullmatch(r"-[LPe@n]+|--|\+\d+|-\d+", arg)]
    state = inv.state
    machine.charge(len(state.cwd) // 16)
    if inv.name == "pushd":
        state.folders.append(state.cwd)
    if inv.name == "popd":
        state.change_folder(state.folders.pop() if state.folders else UNKNOWN)
        return ""
    if not operands:
        home = state.variables.get("HOME", HOME)
        state.change_folder(home if isinstance(home, str) and inv.name == "cd" else UNKNOWN)
    elif operands[0] == "-":
        old = state.variables.get("OLDPWD", UNKNOWN)
        state.change_folder(old if isinstance(old, str) else UNKNOWN)
    else:
        state.change_folder(resolve(operands[0].replace(UNKNOWN_FIELDS, UNKNOWN), inv.place))
    return ""
    yield


def set_options(machine: Machine, inv: Invocation) -> Steps[str]:
    args = inv.args
    if "xtrace" in args or any(re.match(r"-[A-Za-z]*x", arg) for arg in args):
        prompt = inv.state.lookup("PS4")
        if isinstance(prompt, str) and ("$(" in prompt or "`" in prompt):
            yield from call(machine.expanded_text(shown(prompt, machine.home), inv.state))
    if "--" in args:
        args = args[args.index("--") + 1 :]
    elif not args or is_option(args[0]) or args[0][:1] == "+":
        return ""
    inv.state.positional = args if len(args) <= MAX_ITEMS else [UNKNOWN_FIELDS]
    return ""


def shift(machine: Machine, inv: Invocation) -> Steps[str]:
    count = int(inv.args[0]) if inv.args and re.fullmatch(r"\d{1,4}", inv.args[0]) else 1
    if inv.state.positional != [UNKNOWN_FIELDS]:
        inv.state.positional = inv.state.positional[count:]
    return ""
    yield


def declare(machine: Machine, inv: Invocation) -> Steps[str]:
    """export, declare, local, readonly, typeset."""
    exported: dict[str, str] = {}
    is_reference = any(re.match(r"-\w*n", arg) for arg in inv.args) and inv.name != "export"
    for arg in inv.args:
        found = _ASSIGN.match(arg)
        if found is None:
            if inv.name == "export" and isinstance(value := inv.state.lookup(arg), str):
                exported[arg] = value
            continue
        name, subscript, append, value = found.groups()
        if is_reference and re.fullmatch(r"[A-Za-z_]\w*", value) and value != name:
            inv.state.references[name] = value
            continue
        if value[:1] == ITEM and subscript is None:
            inv.state.assign_items(name, value.split(ITEM)[1:], bool(append))
            continue
        if subscript is not None:
            inv.state.assign_element(name, subscript, value, bool(append))
        else:
            value = machine.kept(unglobbed(value).replace(UNKNOWN_FIELDS, UNKNOWN))
            inv.state.assign(name, value, bool(append))
        exported[name] = value
    if inv.name == "export" or "-x" in inv.args:
        yield from judge_environment(machine, inv, exported)
    yield from _subscripts(machine, inv)
    return ""


def _subscripts(machine: Machine, inv: Invocation) -> Steps[None]:
    for arg in inv.args:
        if "[" in unglobbed(arg) and ("$(" in arg or "`" in arg):
            yield from call(machine.expanded_text(arg, inv.state))


def let(machine: Machine, inv: Invocation) -> Steps[str]:
    yield from _subscripts(machine, inv)
    for arg in inv.args:
        found = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=(.*)", arg, re.DOTALL)
        if found:
            inv.state.assign(found.group(1), calculated(found.group(2), inv.state))
    return ""


def unset(machine: Machine, inv: Invocation) -> Steps[str]:
    yield from _subscripts(machine, inv)
    for arg in inv.args:
        if arg == "-f":
            continue
        if "-f" in inv.args:
            inv.state.functions.pop(arg, None)
        elif not is_option(arg):
            inv.state.variables[arg] = ""
    return ""


def read(machine: Machine, inv: Invocation) -> Steps[str]:
    yield from _subscripts(machine, inv)
    targets: list[str] = []
    array = None
    index = 0
    args = inv.args
    while index < len(args):
        arg = args[index]
        if is_option(arg):
            letter = arg[-1]
            if letter in "adinNptu":
                array = args[index + 1] if letter == "a" and index + 1 < len(args) else array
                index += 1
            elif arg[1] in "adinNptu":
                array = arg[2:] if arg[1] == "a" else array
        else:
            targets.append(arg)
        index += 1
    line = inv.stdin.line() if inv.stdin.text != UNKNOWN else UNKNOWN
    if "-d" in args:
        rest = inv.stdin.text
        line, inv.stdin.text = (line if rest is None else line + ("\n" + rest if rest else "")), ""
    separators = inv.env.get("IFS", inv.state.variables.get("IFS", " \t\n"))
    separators = separators if isinstance(separators, str) else " \t\n"
    if array is not None:
        inv.state.assign(array, _split(line, separators, 0))
        return ""
    pieces = (
        _split(line, separators, len(targets) - 1)
        if len(targets) > 1
        else [line.strip(" \t") if separators else line]
    )
    for number, name in enumerate(targets or ["REPLY"]):
        value = pieces[number] if number < len(pieces) else ""
        inv.state.assign(name, UNKNOWN if line == UNKNOWN else machine.kept(value))
    return ""


def getopts(machine: Machine, inv: Invocation) -> Steps[str]:
    """OPTARG holds the value of an option that takes one; the first such value stands for all of them."""
    letters, args = (inv.args or [""])[0], inv.args[2:] or inv.state.positional
    taking = tuple(f"-{letter}" for letter, mark in pairwise(letters) if mark == ":")
    for word, following in zip(args, [*args[1:], UNKNOWN], strict=False):
        if taking and word.startswith(taking):
            inv.state.assign("OPTARG", word[2:] or following)
            break
    return ""
    yield


def _split(line: str, separators: str, limit: int) -> list[str]:
    if not separators:
        return [line]
    return re.split("[" + re.escape(separators) + "]+", line.strip(" \t"), maxsplit=max(limit, 0))


def mapfile(machine: Machine, inv: Invocation) -> Steps[str]:
    text = inv.stdin.text
    target = inv.args[-1] if inv.args and not is_option(inv.args[-1]) else "MAPFILE"
    inv.state.assign(target, [UNKNOWN_FIELDS] if text is None or is_open(text) else text.splitlines())
    yield from _callback(machine, inv)
    return ""


def _callback(machine: Machine, inv: Invocation) -> Steps[None]:
    """`mapfile -C code` runs code for every line."""
    if "-C" in inv.args[:-1]:
        yield from evaluated(machine, inv, inv.args[inv.args.index("-C") + 1])


def printf(machine: Machine, inv: Invocation) -> Steps[str]:
    if inv.args[:1] == ["-v"] and len(inv.args) > 2:
        yield from _subscripts(machine, inv.inner(inv.argv[:3]))
        args = [shown(arg, machine.home) for arg in inv.args[2:]]
        inv.state.assign(inv.args[1], machine.kept(outputs.formatted(args[0], args[1:])))
        return ""
    text = outputs.printf(inv)
    machine.charge(len(text) // 32)
    return text


def test(machine: Machine, inv: Invocation) -> Steps[str]:
    yield from _subscripts(machine, inv)
    return ""


def alias(machine: Machine, inv: Invocation) -> Steps[str]:
    for arg in inv.args:
        name, equals, value = arg.partition("=")
        if equals:
            inv.state.aliases[name] = value
    return ""
    yield


def remember_path(machine: Machine, inv: Invocation) -> Steps[str]:
    """`hash -p path name`: the name stands for that program from here on."""
    if inv.args[:1] == ["-p"] and len(inv.args) == 3:
        inv.state.programs[f"/hash/{inv.args[2]}"] = inv.args[1]
    return ""
    yield


def unalias(machine: Machine, inv: Invocation) -> Steps[str]:
    for arg in inv.args:
        inv.state.aliases.pop(arg, None)
    return ""
    yield


def evaluate(machine: Machine, inv: Invocation) -> Steps[str]:
    words = inv.args[1:] if inv.args[:1] == ["--"] else inv.args
    return (yield from evaluated(machine, inv, " ".join(map(unglobbed, words))))


def source(machine: Machine, inv: Invocation) -> Steps[str]:
    args = inv.args[1:] if inv.args[:1] == ["--"] else inv.args
    if not args:
        return ""
    path = args[0]
    effects.read(machine, inv, path)
    if path in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        return (yield from from_input(machine, inv, inv.state))
    if path.startswith((UNKNOWN, UNKNOWN_FIELDS)) and "/" not in path:
        machine.ask("pipe_to_shell", "Which file the shell reads commands from is not known before.", inv)
        return UNKNOWN
    content = inv.state.files.get(resolve(path, inv.place))
    if content is not None:
        return (yield from script_file(machine, inv, path, args[1:]))
    if path.startswith(("http:", "https:")):
        machine.ask("pipe_to_shell", "Runs a downloaded file.", inv)
    return (yield from script_file(machine, inv, path, args[1:]))


def trap(machine: Machine, inv: Invocation) -> Steps[str]:
    args = [arg for arg in inv.args if arg not in ("--", "-p", "-l", "-P")]
    if len(args) >= 2 and args[0] not in ("-", ""):
        text = shown(args[0], machine.home)
        if "$" in text and len(inv.state.traps) < _MAX_TRAPS:
            inv.state.traps.append((text, inv.state))
        yield from call(machine.code(text, inv.state.copy(), inv.stdin, inv.span))
    return ""


_MAX_TRAPS = 20


def complete(machine: Machine, inv: Invocation) -> Steps[str]:
    """`compgen -C command`, `complete -C`, `bind -x`, `enable -f`."""
    for flag, value in zip(inv.args, inv.args[1:], strict=False):
        if flag in ("-C", "-F"):
            yield from evaluated(machine, inv, value)
        elif flag == "-x" and ":" in value:
            yield from evaluated(machine, inv, value.partition(":")[2].strip().strip("'\""))
        elif flag == "-W":
            yield from call(machine.expanded_text(value, inv.state))
        elif flag == "-f" and inv.name == "enable":
            machine.ask("system_config", "Loads code into the shell.", inv)
    return UNKNOWN
