"""The path policy: may a file tool read, write or list what a path was resolved to?

It is asked twice with the same values: by the gate before a call, and by `echo_bot.files` on what it is about
to open. Reading and listing never ask a person, so there a finding is always a denial.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from echo_bot.policy.decision import Finding, Verdict
from echo_bot.policy.guards.sensitive_names import (
    PSEUDO_FOLDERS,
    SOCKETS,
    SYSTEM_FOLDERS,
    fold,
    is_within,
    matching_rule,
)

Operation = Literal["read", "write", "list"]
FileKind = Literal["file", "dir", "fifo", "socket", "device", "missing"]
ResolveProblem = Literal["", "nul", "not_text", "too_long", "link_loop", "not_a_folder"]

DATABASE_SIBLINGS = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database; it holds the same rows."""


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """What a path text stands for.

    `absolute` is the text joined to the working folder; `real` has every symlink of the part that exists
    followed (`..` after symlinks). A `problem` makes both moot.
    """

    given: str
    absolute: str
    real: str
    kind: FileKind
    nlink: int = 0
    problem: ResolveProblem = ""

    @property
    def exists(self) -> bool:
        return self.kind != "missing"


@dataclass(frozen=True, slots=True)
class PathRules:
    """What the policy goes by. Folders are absolute with symlinks followed: see `echo_bot.files.real_rules`.

    `protected` is the bot's own state (no reading, no writing, database siblings included); `protected_write`
    are skill folders, the bot's program and the operator's tool files, and one of them inside a protected
    folder may be read. `safe_write_root` "" sets no limit.
    `unattended`: nobody can be asked, so the opener refuses what would be asked; the gate has its own step.
    """

    workspace: str
    restrict_to_workspace: bool = False
    safe_write_root: str = ""
    home: str = ""
    protected: tuple[str, ...] = ()
    protected_write: tuple[str, ...] = ()
    unattended: bool = False


@dataclass(frozen=True, slots=True)
class _Subject:
    """A resolved path with what the checks need of it, computed once."""

    path: ResolvedPath
    operation: Operation
    rules: PathRules
    folded: tuple[str, ...]

    @property
    def writes(self) -> bool:
        return self.operation == "write"

    @property
    def is_inside(self) -> bool:
        return is_within(self.path.real, self.rules.workspace)


def judge_path(resolved: ResolvedPath, operation: Operation, rules: PathRules) -> tuple[Finding, ...]:
    """All findings, in the order of the checks; none means allowed."""
    names = {resolved.real, posixpath.normpath(resolved.absolute)}
    subject = _Subject(resolved, operation, rules, tuple(sorted(fold(name) for name in names)))
    return tuple(finding for check in CHECKS for finding in check(subject))


def shown(path: str) -> str:
    """A path for a sentence: invisible characters written out, long ones shortened in the middle."""
    text = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in path)
    return text if len(text) <= 200 else f"{text[:120]}…{text[-60:]}"


def _deny(kind: str, sentence: str) -> Finding:
    return Finding(kind, Verdict.DENY, sentence, field="path")


def _text_is_honest(subject: _Subject) -> Iterable[Finding]:
    reason = _text_problem(subject.path.given)
    if reason:
        yield _deny("bad_path", f"The path {shown(subject.path.given)!r} {reason}.")


def _text_problem(text: str) -> str:
    if not text.strip():
        return "is blank; name a file or folder"
    first = text.split("/", 1)[0]
    if first.startswith("~"):
        return (
            "starts with ~, which is not expanded; write the absolute path, or ./~… for a file of that name"
        )
    if _SHELL_VARIABLE.fullmatch(first):
        return "starts with a shell variable, which is not expanded; write the absolute path"
    if not text.isascii() or not text.isprintable():
        for character in text:
            if _is_hidden(character):
                return f"contains the character U+{ord(character):04X}, which hides or reorders text"
    if _ADDRESS.match(text):
        return "is an address, not a path"
    if _looks_like_traversal(text):
        return "spells a parent folder or drive in another notation; write it plainly"
    return ""


_SHELL_VARIABLE = re.compile(r"\$\{?[A-Z_][A-Z0-9_]*\}?|%[A-Za-z_]+%|\$\(.*|`.*")
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")
_SLASH_LIKE = str.maketrans("\\\u2044\u2215\u29f8\uff0f\uff3c\u2024\uff0e\u3002", "//////...")
_OTHER_NOTATION = re.compile(r"[\\%\u2044\u2215\u29f8\uff0f\uff3c\u2024\uff0e\u3002]|\.\.;")
_ENCODED = re.compile(r"%(?:25)*(2[ef]|5c)|%c0%(?:ae|af)", re.IGNORECASE)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_DRIVE = re.compile(r"[A-Za-z]:\\|\\\\")


def _is_hidden(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        or character in _BLANK_LETTERS
        or 0xE0100 <= ord(character) <= 0xE01EF
    )


def _looks_like_traversal(text: str) -> bool:
    """`..\\x`, `%2e%2e/x` or `..⁄x`: literal names here, a way out for whoever decodes them later."""
    if not _OTHER_NOTATION.search(text):
        return False
    if _DRIVE.match(text):
        return True
    decoded = _ENCODED.sub(lambda found: "/" if found[0][-1] in "fFcC" else ".", text).translate(_SLASH_LIKE)
    parts = (part.partition(";")[0] if decoded == text else part for part in decoded.split("/"))
    return any(part == ".." for part in parts) and (decoded != text or "..;" in text)


def _was_resolved(subject: _Subject) -> Iterable[Finding]:
    problem = subject.path.problem
    if problem:
        yield _deny("bad_path", f"The path {shown(subject.path.given)!r} {_PROBLEMS[problem]}.")


_PROBLEMS: dict[ResolveProblem, str] = {
    "nul": "contains a NUL character",
    "not_text": "cannot be written as a file name",
    "too_long": "is longer than the file system allows",
    "link_loop": "runs in a circle of symbolic links",
    "not_a_folder": "goes through something that is not a folder",
}


def _is_ordinary(subject: _Subject) -> Iterable[Finding]:
    path = subject.path
    if any(is_within(name, folder) for name in _maybe_pseudo(subject.folded) for folder in PSEUDO_FOLDERS):
        yield _deny("special_file", f"{shown(path.real)} is an interface of the system, not a file.")
    elif any(SOCKETS.fullmatch(name) for name in subject.folded):
        yield _deny("special_file", f"{shown(path.real)} is where a service listens, not a file.")
    elif path.kind in ("fifo", "socket", "device"):
        yield _deny("special_file", f"{shown(path.real)} is a {path.kind}, not a regular file.")


def _maybe_pseudo(names: Iterable[str]) -> Iterable[str]:
    return (name for name in names if name.startswith(PSEUDO_FOLDERS))


def _is_not_our_state(subject: _Subject) -> Iterable[Finding]:
    rules = subject.rules
    is_state = any(is_protected(name, rules) for name in subject.folded)
    is_program = subject.writes and any(
        is_within(name, place) for place in _folded(rules.protected_write) for name in subject.folded
    )
    if is_state or is_program:
        yield _deny("protected_path", f"{shown(subject.path.real)} belongs to the bot itself: {_PROTECTED}.")


_PROTECTED = "its settings, state, skills and program are changed by their own commands only"


@lru_cache(maxsize=64)
def _folded(places: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(fold(place) for place in places)


def is_protected(name: str, rules: PathRules) -> bool:
    """Does a folded path belong to the bot's state? A folder that is only kept from writing is taken out."""
    return any(
        _is_at(name, place)
        and not any(
            is_within(name, readable) and readable != place and is_within(readable, place)
            for readable in _folded(rules.protected_write)
        )
        for place in _folded(rules.protected)
    )


def _is_at(name: str, place: str) -> bool:
    return is_within(name, place) or any(name == place + ending for ending in DATABASE_SIBLINGS)


def _is_no_credential(subject: _Subject) -> Iterable[Finding]:
    rule = None if subject.writes else _rule(subject, for_reading=True)
    if rule:
        yield _deny(
            "credential_file", f"{shown(subject.path.real)} is {rule}; its content never enters a chat."
        )


def _is_in_workspace(subject: _Subject) -> Iterable[Finding]:
    if subject.rules.restrict_to_workspace and not subject.is_inside:
        yield _deny("outside_workspace", f"{shown(subject.path.real)} is outside the workspace.")


def _is_in_write_root(subject: _Subject) -> Iterable[Finding]:
    root = subject.rules.safe_write_root
    if subject.writes and root and not is_within(subject.path.real, root):
        yield _deny(
            "outside_write_root",
            f"{shown(subject.path.real)} is outside {shown(root)} (tools.safe_write_root).",
        )


def _write_is_harmless(subject: _Subject) -> Iterable[Finding]:
    if not subject.writes:
        return
    rule = _rule(subject, for_reading=False) or _system_folder(subject)
    if not rule:
        return
    sentence = f"{shown(subject.path.real)} is {rule}"
    if not subject.is_inside:
        yield _deny("sensitive_write", f"{sentence}, outside the workspace.")
    elif subject.rules.unattended:
        yield _deny("sensitive_write", f"{sentence}, and nobody is there to be asked.")
    else:
        yield Finding("sensitive_write", Verdict.ASK, f"{sentence}.", field="path")


def _rule(subject: _Subject, *, for_reading: bool) -> str:
    (home,) = _folded((subject.rules.home,))
    rules = (matching_rule(name, home, for_reading=for_reading) for name in subject.folded)
    return next((rule.what for rule in rules if rule is not None), "")


def _system_folder(subject: _Subject) -> str:
    root = subject.rules.safe_write_root
    if subject.is_inside or (root and is_within(subject.path.real, root)):
        return ""
    top = fold(subject.path.real).split("/", 2)[1]
    return "in a folder of the system" if top in SYSTEM_FOLDERS else ""


def _has_one_name(subject: _Subject) -> Iterable[Finding]:
    if subject.writes and subject.path.kind == "file" and subject.path.nlink > 1:
        yield _deny(
            "hard_link",
            f"{shown(subject.path.real)} has {subject.path.nlink} names (hard links); copy it first.",
        )


CHECKS: tuple[Callable[[_Subject], Iterable[Finding]], ...] = (
    _text_is_honest,
    _was_resolved,
    _is_ordinary,
    _is_not_our_state,
    _is_no_credential,
    _is_in_workspace,
    _is_in_write_root,
    _write_is_harmless,
    _has_one_name,
)
"""All are asked, so that a card or an answer names every reason."""
