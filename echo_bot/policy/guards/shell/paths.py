"""Where a path operand leads: normalised spelling, links made in the text, home folder, /proc detours."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from echo_bot.policy.guards.shell.marks import (
    GLOB_ANY,
    GLOB_SET,
    GLOB_STAR,
    HOME,
    UNKNOWN,
    UNKNOWN_FIELDS,
    is_plain,
)

_EVERYTHING = frozenset({GLOB_STAR, GLOB_ANY, "."})
_REPEATED = re.compile(f"([{UNKNOWN}{UNKNOWN_FIELDS}{GLOB_STAR}])\\1+")


@dataclass(frozen=True, slots=True)
class Place:
    """The surroundings a relative path is read in."""

    cwd: str
    home: str
    links: dict[str, str] = field(default_factory=dict)


def parts_of(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def resolve(value: str, place: Place, depth: int = 0) -> str:
    """The absolute path a value names. It starts with "/", with the HOME mark, or with UNKNOWN."""
    if not value.startswith(("/", HOME, UNKNOWN, UNKNOWN_FIELDS)):
        cwd = place.cwd if place.cwd.startswith(("/", HOME, UNKNOWN)) else "/" + place.cwd
        value = cwd + "/" + value
    stack: list[str] = []
    for part in value.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if stack and stack[0] == HOME and len(stack) == 1:
                stack = parts_of(place.home)
            if stack and stack[-1][:1] not in (UNKNOWN, UNKNOWN_FIELDS):
                stack.pop()
            continue
        stack.append(part)
        if len(stack) > 1:
            stack = _detour(stack, place)
        if place.links and depth < 8:
            target = place.links.get(join(stack))
            if target is not None and part is stack[-1]:
                parent = Place(join(stack[:-1]), place.home, place.links)
                stack = parts_of(resolve(target, parent, depth + 1))
    return join(stack)


def join(stack: list[str]) -> str:
    if stack and stack[0][:1] in (HOME, UNKNOWN, UNKNOWN_FIELDS):
        return "/".join(stack)
    return "/" + "/".join(stack)


def _detour(stack: list[str], place: Place) -> list[str]:
    """/proc/N/root and the macOS firmlinks lead back to the root."""
    first = stack[0].lower()
    if first == "proc" and len(stack) >= 3:
        if stack[-1].lower() == "root" and (len(stack) == 3 or (len(stack) == 5 and stack[2] == "task")):
            return []
        if stack[-1].lower() == "cwd" and len(stack) == 3:
            return [] if stack[1] == "1" else parts_of(resolve(".", place, 8)) if place.cwd else stack
    if first == "private" and len(stack) == 2 and stack[1].lower() in ("etc", "var", "tmp"):
        return stack[1:]
    if len(stack) == 3 and [part.lower() for part in stack] == ["system", "volumes", "data"]:
        return []
    return stack


def matches(pattern: str, text: str) -> bool:
    """Whether a value with marks can be this text, case aside. Globs stay within one path component."""
    if pattern.isascii():
        return pattern.lower() == text.lower()
    pattern = _REPEATED.sub(r"\1", pattern.lower())
    text = text.lower()
    if len(pattern) > 2 * len(text) + 2 and "]" not in pattern:
        return False
    states = {0}
    index = 0
    while index < len(pattern):
        char = pattern[index]
        index += 1
        if char in (UNKNOWN, UNKNOWN_FIELDS):
            states = set(range(min(states), len(text) + 1))
        elif char == GLOB_STAR:
            states = _stretch(states, text)
        elif char == GLOB_ANY:
            states = {at + 1 for at in states if at < len(text) and text[at] != "/"}
        elif char == GLOB_SET and (close := pattern.find("]", index + 1)) >= 0:
            inside = pattern[index:close]
            index = close + 1
            states = {at + 1 for at in states if at < len(text) and _in_set(text[at], inside)}
        else:
            char = "[" if char == GLOB_SET else char
            states = {at + 1 for at in states if at < len(text) and text[at] == char}
        if not states:
            return False
    return len(text) in states


def _stretch(states: set[int], text: str) -> set[int]:
    reached: set[int] = set()
    for at in sorted(states):
        while at not in reached:
            reached.add(at)
            if at == len(text) or text[at] == "/":
                break
            at += 1
    return reached


def _in_set(char: str, inside: str) -> bool:
    negated = inside[:1] in ("!", "^")
    body = inside[1:] if negated else inside
    if "[:" in body:
        return char != "/"
    found = char in body
    for index in range(1, len(body) - 1):
        if body[index] == "-" and body[index - 1] <= char <= body[index + 1]:
            found = True
    return char != "/" and found != negated


def can_be_any(pattern: str, texts: Iterable[str]) -> bool:
    return any(matches(pattern, text) for text in texts)


def is_everything(part: str) -> bool:
    """A glob for all entries of a folder, hidden or not: `*`, `.*`, `.[!.]*`, `?*`."""
    if is_plain(part):
        return False
    rest = part
    while GLOB_SET in rest:
        opened = rest.index(GLOB_SET)
        closed = rest.find("]", opened + 2)
        inside = rest[opened + 1 : closed]
        if closed < 0 or not inside.startswith(("!", "^")):
            return False
        rest = rest[:opened] + rest[closed + 1 :]
    return GLOB_STAR in rest and _EVERYTHING.issuperset(rest)
