"""The bot's own control commands: an agent may never approve, grant, pair or resume for itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell.marks import UNKNOWN_FIELDS, is_open
from echo_bot.policy.guards.shell.options import is_option, names
from echo_bot.policy.guards.shell.paths import resolve

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

OWN_PROGRAMS = ("echo-bot",)
_PROGRAM = re.compile(r"echo[-_](?:bot|agent)(?:\.exe)?\Z")
_MODULE = re.compile(r"echo_(?:bot|agent)(?:\.\w+)*\Z")
_OWN_FILES = ("echo_bot/__main__.py", "echo_bot/cli.py", "echo_agent/__main__.py", "echo_bot/cli/__main__.py")
_CONTROL = names(
    "approvals approval grants grant pair pairing credentials credential config login pause resume mcp "
    "jobs job"
)
_VALUES = frozenset({"-c", "--config", "--data-dir", "--workspace"})
_ENTRANCE = re.compile(
    r"\becho_(?:bot|agent)(?:\.(?:__main__|cli\b[\w.]*)|\b[^\n;]*\bimport\s+(?:main|cli|__main__|app)\b)"
    r"|\brun_(?:module|path)\s*\([^)]*echo_(?:bot|agent)"
    r"|\b(?:entry_points|load_entry_point|import_module|__import__)\b[^;\n]*echo[-_](?:bot|agent)"
)
_VERB = re.compile(rf"['\"](?:{'|'.join(sorted(_CONTROL))})\b")


def judge_bot_control(machine: Machine, inv: Invocation) -> None:
    if not inv.name.startswith(("echo", "python", "pypy", "pipx", "uv", "pdb", "runpy", "coverage")):
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


def judge_bot_code(machine: Machine, inv: Invocation, code: str) -> None:
    """Program text that enters the bot's own command line with a control command."""
    if "echo" in code and _ENTRANCE.search(code) and _VERB.search(code):
        machine.deny("bot_control", "Calls the bot's own control commands from program text.", inv)


def _own_words(inv: Invocation) -> list[str] | None:
    """The words behind the program's name, however it is called; None for any other program."""
    if _PROGRAM.match(inv.name):
        return inv.args
    if inv.name.startswith("echo"):
        return None
    args = inv.args
    for index, arg in enumerate(args):
        following = args[index + 1].lower() if index + 1 < len(args) else ""
        if re.match(r"-[A-Za-z]*m\Z", arg) and _MODULE.match(following):
            return args[index + 2 :]
        if re.match(r"-[A-Za-z]*mecho_(?:bot|agent)\b", arg):
            return args[index + 1 :]
        if is_option(arg):
            continue
        path = resolve(arg, inv.place).lower()
        if _PROGRAM.match(path.rsplit("/", 1)[-1]) or path.endswith(_OWN_FILES):
            return args[index + 1 :]
    return None
