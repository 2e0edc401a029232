"""The unified diff, as written by diff or git, or by a model from memory (whose counts are often wrong)."""

from __future__ import annotations

import re

from echo_bot.files.patches.model import Draft, FileChange, Hunk, PatchError

UNIFIED_HUNK = re.compile(r"@@+ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_EXTENDED = re.compile(
    r"(?:diff |index |old mode |new mode |similarity |dissimilarity |Binary files |GIT binary)"
)


class UnifiedPatch:
    """A unified diff, as written by diff or git, or by a model from memory."""

    def __init__(self, lines: list[str], path: str) -> None:
        self._lines = lines
        self._at = 0
        self._default = path
        self._rename = {"from": "", "to": ""}

    def parse(self) -> list[FileChange]:
        changes: list[FileChange] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if self._is_header():
                self._at += 2
                changes.append(self._change(_name(line[4:]), _name(self._lines[self._at - 1][4:])))
            elif line.startswith("@@") and not changes and self._default:
                changes.append(FileChange("update", self._default, hunks=tuple(self._hunks())))
            elif line.startswith("@@"):
                raise PatchError("a hunk without --- and +++ lines before it; name the file or give `path`")
            else:
                self._note(line, changes)
                self._at += 1
        self._finish_rename(changes)
        return changes

    def _is_header(self) -> bool:
        pair = self._lines[self._at : self._at + 2]
        return len(pair) == 2 and pair[0].startswith("--- ") and pair[1].startswith("+++ ")

    def _note(self, line: str, changes: list[FileChange]) -> None:
        if line.startswith("diff "):
            self._finish_rename(changes)
        if line.startswith(("Binary files ", "GIT binary")):
            raise PatchError("a binary patch cannot be applied; write the file whole")
        for way in ("from", "to"):
            if line.startswith(f"rename {way} "):
                self._rename[way] = _name(line.removeprefix(f"rename {way} "))

    def _finish_rename(self, changes: list[FileChange]) -> None:
        """A rename without hunks has no --- and +++ lines."""
        old, new = self._rename["from"], self._rename["to"]
        self._rename = {"from": "", "to": ""}
        if old and new and not any(change.path == old for change in changes):
            changes.append(FileChange("update", old, new))

    def _change(self, old: str, new: str) -> FileChange:
        old, new = _without_prefixes(old, new)
        hunks = tuple(self._hunks())
        if old == "/dev/null":
            return FileChange("add", new, hunks=hunks)
        if new == "/dev/null":
            return FileChange("delete", old, hunks=hunks)
        if not hunks:
            raise PatchError(f"the change of {old} has no hunk")
        return FileChange("update", old, "" if new == old else new, hunks)

    def _hunks(self) -> list[Hunk]:
        hunks: list[Hunk] = []
        while self._at < len(self._lines) and self._lines[self._at].startswith("@@"):
            draft = Draft()
            numbered = UNIFIED_HUNK.match(self._lines[self._at])
            if numbered:
                # "-7,0" inserts after line 7: the place is the line that follows.
                draft.line = int(numbered[1]) + (numbered[2] == "0")
            self._at += 1
            self._body(draft, _counts(numbered))
            if draft.lines:
                hunks.append(draft.done())
        return hunks

    def _body(self, draft: Draft, counts: tuple[int, int]) -> None:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith("@@") or _EXTENDED.match(line):
                return
            if self._is_header() and not self._could_be_body(draft, counts):
                return
            if not draft.add(line):
                raise PatchError(f"a hunk line must start with a blank, - or +, found {line[:80]!r}")
            self._at += 1

    def _could_be_body(self, draft: Draft, counts: tuple[int, int]) -> bool:
        """Is what looks like a file header a removed `-- …` and an added `++ …` line, going by the counts?"""
        old = counts[0] - sum(tag != "+" for tag, _ in draft.lines)
        new = counts[1] - sum(tag != "-" for tag, _ in draft.lines)
        if self._lines[self._at + 2 : self._at + 3] and self._lines[self._at + 2].startswith("@@"):
            return (old, new) == (1, 1)
        return old >= 1 and new >= 1


def _counts(header: re.Match[str] | None) -> tuple[int, int]:
    """How many old and new lines a hunk's header claims."""
    if header is None:
        return 0, 0
    return int(header[2] or 1), int(header[3] or 1)


def _name(text: str) -> str:
    """A file name from a header line: without a time stamp, C-quoting undone."""
    name = text.split("\t", 1)[0].rstrip()
    if len(name) >= 2 and name[0] == name[-1] == '"':
        return _unquoted(name[1:-1])
    return name


_QUOTED = re.compile(r'\\([0-7]{3}|["\\abfnrtv])')
_ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, '"': 34, "\\": 92}


def _unquoted(text: str) -> str:
    def byte(found: re.Match[str]) -> str:
        code = found[1]
        return chr(_ESCAPES[code] if code in _ESCAPES else int(code, 8) & 0xFF)

    escaped = text.encode("utf-8").decode("latin-1")
    return _QUOTED.sub(byte, escaped).encode("latin-1").decode("utf-8", "replace")


def _without_prefixes(old: str, new: str) -> tuple[str, str]:
    """Take off git's a/ and b/ where both sides have them (or the other side is /dev/null)."""
    old_marked = old.startswith("a/") or old == "/dev/null"
    new_marked = new.startswith("b/") or new == "/dev/null"
    if old_marked and new_marked:
        return old.removeprefix("a/"), new.removeprefix("b/")
    return old, new
