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


_SUBSTITUTION = re.compile(
    r"\s*s([^\w\s\\])((?:\\.|(?!\1)[^\\])*)\1((?:\\.|(?!\1)[^\\])*)\1(g?)\s*(?:;|\n|\Z)", re.DOTALL
)
_BRACKET = re.compile(r"\[\^?\]?[\w\s./~@#%&,:;=+*!?<>-]*\]", re.ASCII)
_MAX_LINE = 2000


def sed(inv: Invocation) -> str:
    """Only substitutions: `sed s/a/b/`, also several, without groups."""
    options = read_options(inv.args, OptionTable("ef", names("expression file")))
    if options.has("i", "f", "in-place", "file"):
        return UNKNOWN
    scripts = options.values("e", "expression") or options.rest[:1]
    if options.has("n", "quiet", "silent") != (scripts == ["p"]):
        return UNKNOWN
    text = input_of(inv, options.rest if options.has("e", "expression") else options.rest[1:])
    if is_open(text):
        return UNKNOWN
    extended = options.has("E", "r", "regexp-extended")
    for script in scripts if scripts != ["p"] else []:
        at = 0
        while at < len(script):
            found = _SUBSTITUTION.match(script, at)
            if found is None:
                return UNKNOWN
            at = found.end()
            changed = _substituted(text, found, extended)
            if changed is None:
                return UNKNOWN
            text = changed
    return text


def _substituted(text: str, found: re.Match[str], extended: bool) -> str | None:
    mark, old, new, everywhere = found.groups()
    pattern, pieces = _pattern(old, mark, extended), _replacement(new, mark)
    if pattern is None or pieces is None or any(len(line) > _MAX_LINE for line in text.splitlines()):
        return None

    def replaced(match: re.Match[str]) -> str:
        return "".join(match.group() if piece is None else piece for piece in pieces)

    lines = text.split("\n")
    ends = [""] if lines[-1] == "" else []
    lines = lines[: len(lines) - len(ends)]
    return "\n".join([*(pattern.sub(replaced, line, 0 if everywhere else 1) for line in lines), *ends])


def _pattern(text: str, mark: str, extended: bool) -> re.Pattern[str] | None:
    """sed's regular expression as Python's: characters, sets, anchors, at most two repetitions; no groups."""
    pieces: list[str] = []
    repeats = index = 0
    while index < len(text):
        char, following = text[index], text[index + 1 : index + 2]
        index += 1
        if char == "\\":
            index += 1
            if following in ("s", "S", "w", "W"):
                pieces.append("\\" + following)
            elif following == mark or (not following.isalnum() and (extended or following not in "(){}|+?")):
                pieces.append(re.escape(following))
            else:
                return None
        elif char == "[":
            bracket = _BRACKET.match(text, index - 1)
            if bracket is None:
                return None
            index = bracket.end()
            pieces.append(bracket.group())
        elif (char == "*" and pieces) or (extended and char in "+?" and pieces):
            repeats += 1
            pieces.append(char)
        elif extended and char in "(){}|":
            return None
        else:
            special = char == "." or (char == "^" and index == 1) or (char == "$" and index == len(text))
            pieces.append(char if special else re.escape(char))
    try:
        return re.compile("".join(pieces)) if repeats <= 2 else None
    except re.error:
        return None


def _replacement(text: str, mark: str) -> list[str | None] | None:
    """The literal pieces of sed's replacement; None among them is what was matched."""
    pieces: list[str | None] = []
    index = 0
    while index < len(text):
        char, following = text[index], text[index + 1 : index + 2]
        index += 1
        if char == "&":
            pieces.append(None)
        elif char == "\\":
            index += 1
            if following.isalnum() and following != "n":
                return None
            pieces.append("\n" if following == "n" else following)
        else:
            pieces.append(char)
    return pieces


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
