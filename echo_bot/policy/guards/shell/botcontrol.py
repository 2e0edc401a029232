"""The bot's own control commands: an agent may never approve, grant or pair for itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell.marks import UNKNOWN_FIELDS, is_open
from echo_bot.policy.guards.shell.options import is_option, names

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

_PROGRAM = re.compile(r"echo[-_](?:bot|agent)(?:\.exe)?\Z")
_MODULE = re.compile(r"echo_(?:bot|agent)(?:\.\w+)*\Z")
_CONTROL = names("approvals approval grants grant pair pairing credentials credential config login")
_VALUES = frozenset({"-c", "--config", "--data-dir", "--workspace"})


def judge_bot_control(machine: Machine, inv: Invocation) -> None:
    if not inv.name.startswith(("echo", "python", "pypy", "pipx", "uv", "pdb")):
        return
    words = _own_words(inv)
    if words is None:
        return
    verbs: list[str] = []
    index = 0
    while index < len(words):
        if words[index] in _VALUES:
            index += 2
            continue
        if not is_option(words[index]):
            verbs.append(words[index].lower())
        index += 1
    if verbs and verbs[0] in _CONTROL:
        machine.deny("bot_control", f"Uses the bot's own control command {verbs[0]!r}.", inv)
    elif (verbs and is_open(verbs[0])) or UNKNOWN_FIELDS in words[:2]:
        machine.ask("bot_control", "Calls the bot's own command with words that are not known before.", inv)


def _own_words(inv: Invocation) -> list[str] | None:
    """The words behind the program's name, however it is called; None for any other program."""
    if _PROGRAM.match(inv.name):
        return inv.args
    if inv.name.startswith("echo"):
        return None
    args = inv.args
    for index, arg in enumerate(args[:-1] if args else []):
        if arg == "-m" and _MODULE.match(args[index + 1].lower()):
            return args[index + 2 :]
    for index, arg in enumerate(args):
        if (
            arg.startswith("-")
            and arg.endswith("m") is False
            and re.match(r"-[A-Za-z]*mecho_(?:bot|agent)\Z", arg)
        ):
            return args[index + 1 :]
        if (
            re.match(r"-[A-Za-z]+m\Z", arg)
            and index + 1 < len(args)
            and _MODULE.match(args[index + 1].lower())
        ):
            return args[index + 2 :]
        is_program = _PROGRAM.match(arg.rsplit("/", 1)[-1].lower())
        if is_program or arg.lower().endswith(("echo_bot/__main__.py", "echo_bot/cli.py")):
            return args[index + 1 :]
    return None
