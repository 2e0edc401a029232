"""What line filters make of known text: sed, cut, grep, awk in their plain forms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell.marks import UNKNOWN, is_open
from echo_bot.policy.guards.shell.options import OptionTable, names, read_options
from echo_bot.policy.guards.shell.paths import resolve
from echo_bot.policy.guards.shell.unescape import backslashes

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation


def input_of(inv: Invocation, files: list[str]) -> str:
    """The text of the named files, or of standard input; files written in this same text are known."""
    if not files:
        return inv.stdin.text if inv.stdin.text is not None else UNKNOWN
    texts: list[str] = []
    for name in files:
        if name in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            texts.append(inv.stdin.text if inv.stdin.text is not None else UNKNOWN)
        elif name == "/dev/null":
            continue
        else:
            texts.append(inv.state.files.get(resolve(name, inv.place), UNKNOWN))
    return "".join(texts)


def sed(inv: Invocation) -> str:
    """Only plain substitutions: `sed s/a/b/`."""
    options = read_options(inv.args, OptionTable("ef", names("expression file")))
    if options.has("i", "f", "in-place", "file"):
        return UNKNOWN
    scripts = options.values("e", "expression") or options.rest[:1]
    if options.has("n", "quiet", "silent") != (scripts == ["p"]):
        return UNKNOWN
    text = input_of(inv, options.rest if options.has("e", "expression") else options.rest[1:])
    if is_open(text):
        return UNKNOWN
    for script in scripts if scripts != ["p"] else []:
        if (anchored := re.fullmatch(r"s(.)([\^$])\1((?:(?!\1)[^\\&])*)\1g?", script)) is not None:
            _, where, new = anchored.groups()
            text = "".join(
                f"{new}{line}\n" if where == "^" else f"{line}{new}\n" for line in text.splitlines()
            )
            continue
        found = re.fullmatch(r"s(.)((?:(?!\1)[^\\*.\[\]^$+?(){}|&])*)\1((?:(?!\1)[^\\&])*)\1(g?)", script)
        if found is None:
            return UNKNOWN
        _, old, new, everywhere = found.groups()
        lines = text.split("\n")
        text = "\n".join(line.replace(old, new, -1 if everywhere else 1) if old else line for line in lines)
    return text


def cut(inv: Invocation) -> str:
    options = read_options(inv.args, OptionTable("dfcb", names("delimiter fields characters bytes")))
    text = input_of(inv, options.rest)
    if is_open(text):
        return UNKNOWN
    wanted = (options.values("f", "fields") or options.values("c", "b", "characters", "bytes") or [""])[0]
    found = re.fullmatch(r"(\d*)(-?)(\d*)", wanted)
    if found is None or not wanted.strip("-"):
        return UNKNOWN
    first = int(found.group(1) or 1) - 1
    last = first + 1 if not found.group(2) else int(found.group(3)) if found.group(3) else None
    lines: list[str] = []
    for line in text.splitlines():
        if options.has("f", "fields"):
            delimiter = (options.values("d", "delimiter") or ["\t"])[0] or "\t"
            lines.append(delimiter.join(line.split(delimiter)[first:last]) if delimiter in line else line)
        else:
            lines.append(line[first:last])
    return "\n".join(lines) + "\n"


def grep(inv: Invocation) -> str:
    """Only a plain word as the pattern."""
    options = read_options(inv.args, OptionTable())
    text = inv.stdin.text
    word = options.rest[0] if len(options.rest) == 1 else ""
    if word in (".", "", "^", "$", ".*") and text is not None and not options.given:
        return text
    if text is None or is_open(text) or not re.fullmatch(r"[\w -]+", word, re.ASCII):
        return UNKNOWN
    if (options.given and not options.has("F", "E", "e", "i")) or options.has("v", "c", "o", "q"):
        return UNKNOWN
    return "".join(line for line in text.splitlines(keepends=True) if word in line)


def through(inv: Invocation) -> str:
    """Tools that pass their input on."""
    text = inv.stdin.text
    return UNKNOWN if text is None else text


_AWK_PRINTS = re.compile(r'\s*BEGIN\s*\{\s*(printf?)[\s(]*"((?:[^"\\%]|\\.)*)"[\s);]*\}\s*')


def awk(inv: Invocation) -> str:
    """Only programs that print every line – `1`, `{print}`, `{print $0}` – or one literal text."""
    if len(inv.args) == 1 and re.fullmatch(r"\s*(?:1|\{\s*print\s*(?:\$0)?\s*;?\s*\})\s*", inv.args[0]):
        return through(inv)
    if len(inv.args) == 1 and (found := _AWK_PRINTS.fullmatch(inv.args[0])) is not None:
        return backslashes(found.group(2)) + ("\n" if found.group(1) == "print" else "")
    return UNKNOWN
