"""Walking a folder tree: every file the policy lets be seen, in a fixed order, minus what .gitignore names.

Links to folders are not followed, and `.git` is never entered.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from pathspec import GitIgnoreSpec

from echo_bot.files.door import FileDoor
from echo_bot.files.results import Admitted, Entry, FileRefusal
from echo_bot.policy.guards.paths import ResolvedPath
from echo_bot.policy.guards.sensitive_names import is_within

MAX_IGNORE_BYTES = 256 * 1024
MAX_WILDCARDS = 4
"""In one component of a pattern: every further one multiplies what a hostile pattern costs."""


class FileWalk:
    """One walk below a folder that was admitted for listing. `left_out` counts what the policy kept back."""

    def __init__(self, door: FileDoor, start: Admitted) -> None:
        self._door = door
        self._start = start
        self.left_out = 0

    def files(self) -> Iterator[Entry]:
        """Files, folder by folder: a folder's own files first, then those of its folders, by name."""
        yield from self._below(self._start.path, self._specs_above())

    def _below(self, folder: ResolvedPath, specs: tuple[_Spec, ...]) -> Iterator[Entry]:
        listing = self._door.entries(Admitted(folder, "list"))
        if isinstance(listing, FileRefusal):
            return
        self.left_out += listing.left_out
        if any(entry.name == ".gitignore" for entry in listing.entries):
            specs = (self._spec_in(folder), *specs)
        kept = [
            entry for entry in listing.entries if not entry.is_link and not _is_ignored(entry.path, specs)
        ]
        yield from (entry for entry in kept if entry.path.kind == "file")
        for entry in kept:
            if entry.path.kind == "dir" and entry.name != ".git":
                yield from self._below(entry.path, specs)

    def _specs_above(self) -> tuple[_Spec, ...]:
        """The patterns of the folders from the workspace to the start, unless they leave out the start."""
        root, start = self._door.rules.workspace, self._start.path
        if not is_within(start.real, root) or start.real == root:
            return ()
        specs: list[_Spec] = []
        folder = os.path.dirname(start.real)
        while is_within(folder, root):
            specs.append(self._spec_in(ResolvedPath(folder, folder, folder, "dir")))
            folder = os.path.dirname(folder)
        return () if _is_ignored(start, tuple(specs)) else tuple(specs)

    def _spec_in(self, folder: ResolvedPath) -> _Spec:
        content = self._door.read_bytes(".gitignore", folder.real, MAX_IGNORE_BYTES)
        text = "" if isinstance(content, FileRefusal) else content.data.decode("utf-8", "replace")
        lines = [line for line in text.splitlines() if is_cheap_pattern(line)]
        return _Spec(folder.real, GitIgnoreSpec.from_lines(lines))


class _Spec:
    """The patterns of one .gitignore file, which count from its folder."""

    def __init__(self, folder: str, patterns: GitIgnoreSpec) -> None:
        self._folder = folder.rstrip("/") + "/"
        self._patterns = patterns

    def says(self, path: ResolvedPath) -> bool | None:
        """True: leave out. False: keep, whatever folders above say. None: no pattern fits."""
        relative = path.real.removeprefix(self._folder)
        return self._patterns.check_file(relative + "/" if path.kind == "dir" else relative).include


def is_cheap_pattern(pattern: str) -> bool:
    """Is a glob matched in reasonable time, whoever wrote it?"""
    components = pattern.replace("**", "").split("/")
    return len(pattern) <= 1000 and all(part.count("*") <= MAX_WILDCARDS for part in components)


def _is_ignored(path: ResolvedPath, specs: tuple[_Spec, ...]) -> bool:
    """By the patterns of the nearest folder that has something to say."""
    return next((said for said in (spec.says(path) for spec in specs) if said is not None), False)
