"""The V4A patch form: *** Begin Patch, sections by file, hunks found by context and @@ anchors."""

from __future__ import annotations

import re

from echo_bot.files.patches.model import Draft, FileChange, Hunk, PatchError
from echo_bot.files.patches.unified import UNIFIED_HUNK

V4A_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")


class V4APatch:
    """The form between *** Begin Patch and *** End Patch."""

    def __init__(self, lines: list[str]) -> None:
        begin = next((number for number, line in enumerate(lines) if line.strip() == "*** Begin Patch"), -1)
        self._lines = lines[begin + 1 :]
        self._at = 0

    def parse(self) -> list[FileChange]:
        changes: list[FileChange] = []
        while self._at < len(self._lines):
            line = self._lines[self._at].rstrip()
            if line == "*** End Patch":
                break
            header = V4A_FILE.fullmatch(line)
            if header is None:
                if line:
                    raise PatchError(f"expected '*** Update File: …' or the like, found {line[:80]!r}")
                self._at += 1
                continue
            self._at += 1
            changes.append(self._change(header[1], header[2].strip()))
        return changes

    def _change(self, verb: str, path: str) -> FileChange:
        if verb == "Delete":
            return FileChange("delete", path)
        if verb == "Add":
            return FileChange("add", path, hunks=(self._added(path),))
        new_path = ""
        if self._at < len(self._lines) and self._lines[self._at].startswith("*** Move to: "):
            new_path = self._lines[self._at].removeprefix("*** Move to: ").strip()
            self._at += 1
        hunks = self._hunks()
        if not hunks and not new_path:
            raise PatchError(f"the update of {path} has no hunk")
        return FileChange("update", path, "" if new_path == path else new_path, tuple(hunks))

    def _added(self, path: str) -> Hunk:
        draft = Draft()
        while self._at < len(self._lines) and not self._lines[self._at].startswith("*** "):
            line = self._lines[self._at]
            if not line.startswith("+"):
                raise PatchError(f"every line of the new file {path} must start with +, found {line[:80]!r}")
            draft.add(line)
            self._at += 1
        return draft.done()

    def _hunks(self) -> list[Hunk]:
        hunks: list[Hunk] = []
        draft = Draft()
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.rstrip() == "*** End of File":
                draft.at_end = True
            elif line.startswith("*** "):
                break
            elif line.startswith("@@"):
                if draft.lines:
                    hunks.append(draft.done())
                    draft = Draft()
                _anchor(draft, line)
            elif not draft.add(line):
                raise PatchError(f"a hunk line must start with a blank, - or +, found {line[:80]!r}")
            self._at += 1
        if draft.lines:
            hunks.append(draft.done())
        return hunks


def _anchor(draft: Draft, line: str) -> None:
    numbered = UNIFIED_HUNK.match(line)
    if numbered:
        draft.line = int(numbered[1])
    elif line[2:].strip():
        draft.anchors.append(line[2:].removeprefix(" ").removesuffix(" @@"))
