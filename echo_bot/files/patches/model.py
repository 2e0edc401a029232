"""What a patch says, whichever form it came in: changes of files, made of hunks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Tag = Literal[" ", "-", "+"]
ChangeKind = Literal["add", "update", "delete"]


class PatchError(ValueError):
    """The patch cannot be read or does not fit; the message says where and what to do."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines to find (` ` and `-`) and to leave (` ` and `+`).

    `line` is the 1-based place the patch claims, 0 for none; `anchors` are lines to pass first; `at_end`: the
    hunk ends the file. `old_newline` and `new_newline` are False where the patch denies a final newline.
    """

    lines: tuple[tuple[Tag, str], ...]
    line: int = 0
    anchors: tuple[str, ...] = ()
    at_end: bool = False
    old_newline: bool = True
    new_newline: bool = True

    @property
    def old(self) -> list[str]:
        return [text for tag, text in self.lines if tag != "+"]


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a patch does to one file. `new_path` is set for a move; an add has one hunk of `+` lines."""

    kind: ChangeKind
    path: str
    new_path: str = ""
    hunks: tuple[Hunk, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path, self.new_path) if self.new_path else (self.path,)


_TAGS: dict[str, Tag] = {" ": " ", "-": "-", "+": "+", "": " "}
"""The first character of a body line; models drop the blank of an empty context line."""


@dataclass(slots=True)
class Draft:
    """A hunk while its lines come in."""

    line: int = 0
    anchors: list[str] = field(default_factory=list)
    lines: list[tuple[Tag, str]] = field(default_factory=list)
    at_end: bool = False
    old_newline: bool = True
    new_newline: bool = True

    def add(self, line: str) -> bool:
        """Take one body line; False if it is none."""
        if line.startswith("\\"):
            last = self.lines[-1][0] if self.lines else " "
            self.old_newline = self.old_newline and last == "+"
            self.new_newline = self.new_newline and last == "-"
            return True
        tag = _TAGS.get(line[:1])
        if tag is not None:
            self.lines.append((tag, line[1:]))
        return tag is not None

    def done(self) -> Hunk:
        return Hunk(
            tuple(self.lines), self.line, tuple(self.anchors), self.at_end, self.old_newline, self.new_newline
        )
