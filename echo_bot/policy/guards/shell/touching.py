"""Which operands of which program are read and which are written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import effects
from echo_bot.policy.guards.shell.marks import UNKNOWN, UNKNOWN_FIELDS, is_open
from echo_bot.policy.guards.shell.operands import OPERANDS, UNTOUCHING, Operands
from echo_bot.policy.guards.shell.options import OptionTable, is_option, read_options
from echo_bot.policy.guards.shell.paths import resolve
from echo_bot.policy.guards.shell.roots import Match, disk_match, is_system_setting, secret_match
from echo_bot.policy.guards.shell.state import MAX_ITEMS

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

_RECURSIVE = ("r", "R", "a", "recursive", "archive", "recurse-paths")
_PATH_IN_VALUE = re.compile(r"(?:^|[=@<:])@?((?:/|~|\ud804|\.{1,2}/)[^\s,;]*)")


def judge_touching(machine: Machine, inv: Invocation) -> None:
    """Findings for the paths among a command's words."""
    name = inv.name
    if name in UNTOUCHING or not inv.args:
        if name == "touch":
            for path in inv.args:
                if not is_option(path):
                    effects.write(machine, inv, path)
        elif name in ("file", "date"):
            for path in read_options(inv.args, OptionTable("f", frozenset())).values("f"):
                effects.read(machine, inv, path)
        elif name in ("rm", "unlink"):
            for path in inv.args:
                effects.delete(machine, inv, path)
        return
    if len(inv.args) == 1 and inv.args[0] in ("--help", "--version"):
        return
    for arg in inv.args:
        if arg.lower().startswith("file://"):
            effects.read(machine, inv, "/" + arg[7:].lstrip("/"))
    use = OPERANDS.get(name)
    if use is None:
        _unlisted(machine, inv)
        return
    options = read_options(inv.args, OptionTable(use.letters, use.long, use.single_dash))
    operands = list(options.rest)
    skip = 0 if use.pattern and options.has(*use.pattern) else use.skip
    for given, value in options.given:
        if value and any(given.lstrip("-") == known for known in use.output):
            effects.write(machine, inv, value)
        elif value and not (use.target and options.values(*use.target) == [value]):
            _value(machine, inv, value)
    if use.in_place and any(given.lstrip("-") in use.in_place for given, _ in options.given):
        for path in operands[skip:]:
            effects.write(machine, inv, path, unknown_asks=False)
        return
    folders = options.values(*use.target) if use.target else []
    targets = _targets(use, folders, operands[skip:])
    for path in operands[skip:]:
        if path not in targets:
            _read_operand(machine, inv, path)
            if name in ("cp", "scp", "zip", "ditto") and options.has(*_RECURSIVE):
                effects.read_tree(machine, inv, path)
    for path in targets:
        _written(machine, inv, name, path, operands[skip:])
    if name in ("cp", "mv", "install") and len(operands) == 2:
        _carry(inv, operands[0], operands[1])
    if name in ("cp", "mv", "install", "ln", "link") and len(operands) == 2:
        _rename_program(inv, operands[0], operands[1])
    if name == "ln" and len(operands) == 2 and not folders:
        _link(inv, operands[0], operands[1])
    if name == "tee":
        _remember(inv, operands)


def _targets(use: Operands, folders: list[str], operands: list[str]) -> list[str]:
    if folders:
        names_only = [path.rstrip("/").rsplit("/", 1)[-1] for path in operands]
        return [f"{folders[0].rstrip('/')}/{name}" for name in names_only] or folders
    if use.writes == "all":
        return operands
    if use.writes == "last":
        return operands[-1:] if len(operands) > 1 else []
    if use.writes == "first":
        return operands[:1]
    return operands[1:2] if use.writes == "second" else []


def _written(machine: Machine, inv: Invocation, name: str, path: str, operands: list[str]) -> None:
    if re.match(r"[\w.@-]+:(?!/dev)", path) and name in ("scp", "rcp", "rsync", "pscp"):
        return
    effects.write(
        machine,
        inv,
        path,
        unknown_asks=path[:1] in (UNKNOWN, UNKNOWN_FIELDS) and name in ("tee", "cp", "mv", "ln", "install"),
    )
    if name in ("cp", "mv", "install", "ln", "rsync") and len(operands) >= 2:
        for source in operands[:-1]:
            inside = f"{path.rstrip('/')}/{source.rstrip('/').rsplit('/', 1)[-1]}"
            if (
                not is_open(inside)
                and (secret_match(inside, inv.place) is Match.YES or _in_folder_acted_on(inside, path, inv))
                and path.rstrip("/") != source
            ):
                effects.write(machine, inv, inside)


def _in_folder_acted_on(inside: str, path: str, inv: Invocation) -> bool:
    """`cp x ~/.config/autostart/`: the copy's name completes a path the system acts on."""
    return path.endswith("/") and is_system_setting(inside, inv.place)


def _rename_program(inv: Invocation, source: str, target: str) -> None:
    """A program that is copied or linked stays the program it was."""
    if is_open(source) or is_open(target):
        return
    known = inv.state.programs
    original = known.get(resolve(source, inv.place), source)
    path = resolve(target, inv.place)
    if target.endswith(("/", "/.")) or target in (".", ".."):
        path = f"{path.rstrip('/')}/{source.rsplit('/', 1)[-1]}"
    if resolve(original, inv.place) != path and len(known) < MAX_ITEMS:
        known[path] = original


def _link(inv: Invocation, target: str, link: str) -> None:
    if not is_open(target) and not is_open(link):
        inv.state.links[resolve(link, inv.place)] = resolve(target, inv.place)


def _carry(inv: Invocation, source: str, target: str) -> None:
    """A file written in this text keeps its known content under its new name."""
    content = inv.state.files.get(resolve(source, inv.place))
    if source in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        content = inv.stdin.text
    if content is not None and not is_open(target):
        inv.state.files[resolve(target, inv.place)] = content


def _remember(inv: Invocation, operands: list[str]) -> None:
    for path in operands:
        if not is_open(path) and not path.startswith("/dev/") and inv.stdin.text is not None:
            inv.state.files[resolve(path, inv.place)] = inv.stdin.text


def _read_operand(machine: Machine, inv: Invocation, path: str) -> None:
    if path[:1] == "@":
        path = path[1:]
    effects.read(machine, inv, path)
    if ":" in path and not path.startswith(("http:", "https:")):
        effects.read(machine, inv, path.split(":", 1)[0])


def _value(machine: Machine, inv: Invocation, value: str) -> None:
    """An option's value: `@file`, `name=@file`, or a path."""
    for found in _PATH_IN_VALUE.finditer(value):
        effects.read(machine, inv, found.group(1))
    if not _PATH_IN_VALUE.search(value):
        bare = value.rsplit("@", 1)[-1] if "@" in value else value
        if secret_match(bare, inv.place) is Match.YES and not re.search(r"\s", bare):
            effects.read(machine, inv, bare)


_OUTPUT_OPTION = re.compile(
    r"(?:-o|-of|--?(?:output|out|outfile|output-?file|dest|destination|target|write|save|write-to|image-to|filename))"
    r"(?:=|\Z)|-o(?=/)"
)


def _disk_outputs(machine: Machine, inv: Invocation) -> None:
    """Whatever program it is: an output option that names a disk overwrites it."""
    args = inv.args
    if inv.name == "fio" and not any(re.match(r"--(?:rw|readwrite)=.*(?:w|trim)", arg) for arg in args):
        return
    for arg, following in zip(args, [*args[1:], ""], strict=False):
        found = _OUTPUT_OPTION.match(arg)
        if found is None:
            continue
        value = arg[found.end() :] or following
        if value[:1] == "/" and disk_match(value, inv.place) is Match.YES:
            effects.write(machine, inv, value)


def _unlisted(machine: Machine, inv: Invocation) -> None:
    """A program without an entry: every operand and option value may be a file it reads."""
    _disk_outputs(machine, inv)
    for arg in inv.args:
        if is_option(arg):
            _, equals, value = arg.partition("=")
            if equals:
                _value(machine, inv, value)
            elif len(arg) > 2 and arg[1] != "-":
                _value(machine, inv, arg[2:])
        elif re.match(r"[^\s=/~][^\s=]*=", arg):
            _value(machine, inv, arg.partition("=")[2])
        elif " " not in arg.strip() or arg.startswith(("/", "\ud804")):
            _read_operand(machine, inv, arg)
