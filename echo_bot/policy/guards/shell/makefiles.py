"""make: recipes from standard input or a makefile that this very text wrote, and text on the command line."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import effects
from echo_bot.policy.guards.shell.marks import is_open
from echo_bot.policy.guards.shell.options import OptionTable, names, read_options
from echo_bot.policy.guards.shell.paths import resolve
from echo_bot.policy.guards.shell.started import started
from echo_bot.policy.guards.shell.trampoline import Steps

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

_TABLE = OptionTable("fCIjloW", names("file makefile directory include-dir jobs eval"))
_SHELL_CALL = re.compile(r"\$\(shell\s+([^)]*)\)")


def make(machine: Machine, inv: Invocation) -> Steps[None]:
    options = read_options(inv.args, _TABLE)
    files = options.values("f", "file", "makefile")
    if folders := options.values("C", "directory"):
        inv = replace(inv, state=inv.state.copy())
        inv.state.change_folder(resolve(folders[-1], inv.place))
    for name in files or ["GNUmakefile", "makefile", "Makefile"]:
        if name in ("-", "/dev/stdin"):
            machine.ask("inline_interpreter", "Runs recipes from standard input.", inv)
            yield from _recipes(machine, inv, inv.stdin.text or "")
        else:
            effects.read(machine, inv, name)
            yield from _recipes(machine, inv, inv.state.files.get(resolve(name, inv.place), ""))
    for arg in inv.args:
        if arg.startswith("SHELL="):
            yield from started(machine, inv, arg[6:])
        for text in _SHELL_CALL.findall(arg):
            yield from started(machine, inv, text)


def _recipes(machine: Machine, inv: Invocation, makefile: str) -> Steps[None]:
    """The command lines of a makefile's rules."""
    for line in makefile.splitlines():
        rule, semicolon, inline = line.partition(";")
        recipe = line if line.startswith("\t") else inline if semicolon and ":" in rule else ""
        for text in [*_SHELL_CALL.findall(line), recipe.strip().lstrip("@-+")]:
            if text and not is_open(text[:1]):
                yield from started(machine, inv, text.replace("$$", "$"))
