"""Deleting folders with everything in them: rm, rsync --delete, and tools that delete a tree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import effects
from echo_bot.policy.guards.shell.effects import spoken
from echo_bot.policy.guards.shell.marks import GLOB_STAR, UNKNOWN
from echo_bot.policy.guards.shell.options import (
    OptionTable,
    is_help,
    is_option,
    may_be_options,
    names,
    read_options,
)
from echo_bot.policy.guards.shell.roots import Match, root_match

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

_RM = OptionTable("", frozenset())


def rm(machine: Machine, inv: Invocation) -> None:
    if is_help(inv.args):
        return
    options = read_options(inv.args, _RM)
    if options.has("r", "R", "recursive"):
        for path in options.rest or [UNKNOWN]:
            effects.delete_tree(machine, inv, path)
        return
    before_end = inv.args[: inv.args.index("--")] if "--" in inv.args else inv.args
    if any(may_be_options(arg) for arg in before_end) and options.rest != [UNKNOWN]:
        machine.ask("recursive_delete", "What is deleted is not known before.", inv)
    else:
        _plain_rm(machine, inv, options.rest)


def _plain_rm(machine: Machine, inv: Invocation, paths: list[str]) -> None:
    """Without -r, only patterns reach many files: `rm /etc/*`, or everything that find named."""
    for path in paths:
        if path.endswith(f"{GLOB_STAR}/{GLOB_STAR}"):
            effects.delete_tree(machine, inv, path)
        elif path.endswith(GLOB_STAR) and root_match(path, inv.place) is Match.YES:
            machine.ask("recursive_delete", f"Deletes everything in {spoken(path)}.", inv)


def rsync(machine: Machine, inv: Invocation) -> None:
    table = OptionTable(
        "efTB@M",
        names(
            "rsh filter exclude include exclude-from include-from files-from rsync-path temp-dir backup-dir "
            "compare-dest copy-dest link-dest suffix chmod chown usermap groupmap bwlimit port "
            "log-file password-file out-format partial-dir max-size min-size timeout"
        ),
    )
    options = read_options(inv.args, table)
    if not options.rest:
        return
    remote = [path for path in options.rest if re.match(r"(?:[\w.@-]+|\[[^\]]*\]):", path) or "://" in path]
    if remote:
        machine.ask("network_outbound", "Copies to or from another machine.", inv)
    deletes = any(name.startswith("--del") for name, _ in options.given) or options.has("remove-source-files")
    deletes = deletes and not options.has("n", "dry-run")
    for source in options.rest[:-1]:
        if source not in remote:
            effects.read(machine, inv, source)
            if options.has("a", "r", "archive", "recursive"):
                effects.read_tree(machine, inv, source)
    if len(options.rest) > 1 and options.rest[-1] not in remote:
        target = options.rest[-1]
        if deletes:
            effects.delete_tree(machine, inv, target)
        effects.write(machine, inv, target)
    elif deletes:
        machine.ask("recursive_delete", "Deletes files on the other side.", inv)


def tree_tool(machine: Machine, inv: Invocation) -> None:
    """rimraf, srm, trash: every operand goes with everything in it."""
    operands = [arg for arg in inv.args if not is_option(arg)]
    for path in operands if not is_help(inv.args) else []:
        effects.delete_tree(machine, inv, path)


_ARCHIVES = {
    "zip": ("m", "move"),
    "7z": ("sdel",),
    "7za": ("sdel",),
    "7zz": ("sdel",),
    "7zr": ("sdel",),
    "rar": ("df", "dr", "dw"),
    "arj": ("d",),
}


def archive(machine: Machine, inv: Invocation) -> None:
    """zip -m, 7z -sdel, rar m: what was packed is deleted."""
    single = inv.name != "zip"
    options = read_options(inv.args, OptionTable("" if single else "bntixTO", single_dash=single))
    moves = options.has_exactly(*_ARCHIVES[inv.name]) or (
        inv.name == "rar" and options.rest[:1] in (["m"], ["mf"])
    )
    if moves and not is_help(inv.args):
        for path in options.rest[1 if inv.name == "zip" else 2 :]:
            effects.delete_tree(machine, inv, path)


ARCHIVES = frozenset(_ARCHIVES)


def remove_item(machine: Machine, inv: Invocation) -> None:
    """PowerShell's Remove-Item: its options are words of their own and may be cut short."""
    if not any(re.match(r"-rec\w*|-r\Z", arg.lower()) for arg in inv.args):
        return
    for path in inv.args:
        if not is_option(path):
            effects.delete_tree(machine, inv, path)


def mv(machine: Machine, inv: Invocation) -> None:
    """A system folder that is moved away is as gone as a deleted one."""
    options = read_options(inv.args, OptionTable("tS", names("target-directory suffix")))
    for path in options.rest if options.has("t", "target-directory") else options.rest[:-1]:
        if root_match(path, inv.place) is Match.YES and not path.endswith(GLOB_STAR):
            if options.rest[-1] == "/dev/null":
                machine.deny("root_rm", f"Throws {spoken(path)} away.", inv)
            else:
                machine.ask("system_config", f"Moves {spoken(path)}: a system folder or a whole home.", inv)
