"""Ripgrep as a sieve: which files cannot match, because a text that every match contains is not in them.

What matches, and what is shown, is decided elsewhere and the same way with and without ripgrep.
"""

from __future__ import annotations

import string
import subprocess
from collections.abc import Iterator, Sequence

MIN_LITERAL = 3
_PLAIN = frozenset(string.ascii_letters + string.digits + "_ -/:;,=<>\"'@#%&!~`")
_CODED = frozenset("xuUN" + string.digits)
"""After a backslash: the characters that follow are not what they look like."""
_ENDS_UNCERTAIN = frozenset("*?{")
_ARGUMENT_BYTES = 100_000


def required_literal(pattern: str) -> str:
    """The longest plain ASCII text that every match of the expression contains; "" if none is sure."""
    if "|" in pattern or "(?" in pattern:
        return ""
    best = run = ""
    depth = at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "[":
            at = _end_of_class(pattern, at)
            if at < 0:
                return ""
        elif character == "\\":
            at += 1
            if pattern[at : at + 1] in _CODED:
                return ""
        elif character in "()":
            depth += 1 if character == "(" else -1
        elif character in _PLAIN and depth == 0:
            if pattern[at + 1 : at + 2] not in _ENDS_UNCERTAIN or at + 1 == len(pattern):
                run += character
                best = max(best, run, key=len)
                at += 1
                continue
        elif character == "{":
            at = pattern.find("}", at)
            if at < 0:
                return ""
        run = ""
        at += 1
    return best if len(best) >= MIN_LITERAL else ""


def _end_of_class(pattern: str, start: int) -> int:
    """Where a [class] ends; a ] right at its start belongs to it. -1 when it is not closed."""
    at = start + 1 + pattern.startswith("^", start + 1)
    at += pattern.startswith("]", at)
    while at < len(pattern):
        if pattern[at] == "]":
            return at
        at += 2 if pattern[at] == "\\" else 1
    return -1


def files_with(ripgrep: str, literal: str, paths: Sequence[str], seconds: float) -> set[str]:
    """Those of `paths` whose bytes contain `literal`. On any failure all of them: a sieve may let through."""
    kept: set[str] = set()
    command = [
        ripgrep,
        "--no-config",
        "--fixed-strings",
        "--files-with-matches",
        "--null",
        "--text",
        "--no-messages",
    ]
    command += ["--encoding=none", "--no-ignore", "--hidden", "-e", literal, "--"]
    for batch in _batches(paths):
        try:
            done = subprocess.run(
                [*command, *batch],
                capture_output=True,
                timeout=seconds,
                env={},
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return set(paths)
        if done.returncode not in (0, 1):
            return set(paths)
        kept.update(name.decode("utf-8", "surrogateescape") for name in done.stdout.split(b"\0") if name)
    return kept


def _batches(paths: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for path in paths:
        size += len(path.encode("utf-8", "surrogateescape")) + 1
        if size > _ARGUMENT_BYTES and batch:
            yield batch
            batch, size = [], len(path) + 1
        batch.append(path)
    if batch:
        yield batch
