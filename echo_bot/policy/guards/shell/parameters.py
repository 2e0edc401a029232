"""Parameter operators: `${x:-w}`, `${x#p}`, `${x/a/b}`, `${x:1:2}`, `${x^^}` on values that are known."""

from __future__ import annotations

import re

from echo_bot.policy.guards.shell.marks import GLOB_ANY, GLOB_SET, GLOB_STAR, UNKNOWN, is_open, is_plain

_MAX_STARS = 6
_NUMBER = re.compile(r"\s*-?\d+\s*\Z")


def pattern_regex(pattern: str, greedy: bool = True) -> str | None:
    """A shell pattern as a regular expression; None when it is not known or too wild."""
    if is_open(pattern) or pattern.count(GLOB_STAR) > _MAX_STARS:
        return None
    pieces: list[str] = []
    index = 0
    while index < len(pattern):
        char = pattern[index]
        index += 1
        if char == GLOB_STAR:
            pieces.append(".*" if greedy else ".*?")
        elif char == GLOB_ANY:
            pieces.append(".")
        elif char == GLOB_SET and (close := pattern.find("]", index + 1)) >= 0:
            inside = pattern[index:close]
            index = close + 1
            pieces.append(_set(inside))
        else:
            pieces.append(re.escape("[" if char == GLOB_SET else char))
    return "".join(pieces)


def _set(inside: str) -> str:
    negated = inside[:1] in ("!", "^")
    body = inside[1:] if negated else inside
    for name, characters in (
        ("alpha", "A-Za-z"),
        ("digit", "0-9"),
        ("alnum", "A-Za-z0-9"),
        ("space", r"\s"),
        ("upper", "A-Z"),
        ("lower", "a-z"),
    ):
        body = body.replace(f"[:{name}:]", characters)
    body = body.replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
    return f"[{'^' if negated else ''}{body}]" if body else "(?!)"


def trimmed(value: str, operator: str, pattern: str) -> str:
    """`${value#pattern}`, `##`, `%`, `%%`."""
    if is_open(value):
        return UNKNOWN
    regex = pattern_regex(pattern, greedy=len(operator) == 2)
    if regex is None or (len(value) > 5000 and GLOB_STAR in pattern):
        return UNKNOWN
    try:
        if operator[0] == "#":
            found = re.match(regex, value, re.DOTALL)
            return value[found.end() :] if found else value
        starts = range(len(value) + 1) if len(operator) == 2 else range(len(value), -1, -1)
        compiled = re.compile(regex + r"\Z", re.DOTALL)
        for start in starts:
            if compiled.match(value, start):
                return value[:start]
    except re.error:
        return UNKNOWN
    return value


def replaced(value: str, operator: str, argument: str) -> str:
    """`${value/pattern/text}`; the argument holds both, separated by the first slash."""
    if is_open(value):
        return UNKNOWN
    anchor = argument[:1] if argument[:1] in ("#", "%") and operator == "/" else ""
    body = argument[len(anchor) :]
    cut = body.find("/", 1) if body.startswith("/") else body.find("/")
    pattern, text = (body, "") if cut < 0 else (body[:cut], body[cut + 1 :])
    regex = pattern_regex(pattern)
    if regex is None or not pattern or (len(value) > 5000 and GLOB_STAR in pattern):
        return UNKNOWN if pattern else value
    regex = {"#": r"\A" + regex, "%": regex + r"\Z"}.get(anchor, regex)
    try:
        return re.sub(regex, lambda _: text, value, count=0 if operator == "//" else 1, flags=re.DOTALL)
    except re.error:
        return UNKNOWN


def sliced(value: str, argument: str) -> str:
    """`${value:offset:length}`."""
    offset, _, length = argument.partition(":")
    if is_open(value) or not _NUMBER.match(offset or "0") or not _NUMBER.match(length or "0"):
        return UNKNOWN
    start = int(offset or 0)
    if start < 0:
        start = max(len(value) + start, 0)
    if ":" not in argument:
        return value[start:]
    count = int(length or 0)
    return value[start : start + count] if count >= 0 else value[start : len(value) + count]


def recased(value: str, operator: str) -> str:
    """`${value^}`, `^^`, `,`, `,,`, `~`, `~~`."""
    if not is_plain(value):
        return UNKNOWN if is_open(value) else value
    change = {"^": str.upper, ",": str.lower, "~": str.swapcase}[operator[0]]
    return change(value) if len(operator) == 2 else change(value[:1]) + value[1:]
