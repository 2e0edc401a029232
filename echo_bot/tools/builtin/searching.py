"""search_files: find lines by a regular expression, or files by a glob, below a folder."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import time
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from pathspec import GitIgnoreSpec

from echo_bot.files import Admitted, Entry, FileDoor, FileRefusal, FileWalk
from echo_bot.files.walking import is_cheap_pattern
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.guards.paths import ResolvedPath, shown
from echo_bot.policy.risk import RiskLevel
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.builtin.matching import PatternError, matcher
from echo_bot.tools.builtin.pages import is_binary
from echo_bot.tools.builtin.prefilter import files_with, required_literal
from echo_bot.tools.builtin.workspace import Workspace, invalid, refused

MAX_RESULTS = 1000
DEFAULT_RESULTS = 100
MAX_FILES = 100_000
MAX_FILE_BYTES = 10 * 1024 * 1024
SECONDS = 25.0
_SNIFFED_BYTES = 8192
_GROUP = 2000
"""Files that are looked at together: enough for one run of ripgrep, few enough to stop early."""


class SearchFilesTool(Tool):
    """`ripgrep` is the program's path, or None: slower, with the same results."""

    name = "search_files"
    description = (
        "Search below a folder. mode content (the default): lines that match a (Python) regular expression, "
        "as path:line: text. mode glob: paths that match a glob such as *.py or src/**/*.{ts,tsx}. What "
        ".gitignore names is left out."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["search_files"].parameters
    capabilities = ("fs.read",)
    risk_level = RiskLevel.READ_ONLY.value

    def __init__(self, workspace: Workspace, ripgrep: str | None) -> None:
        self._workspace = workspace
        self._ripgrep = ripgrep

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        return await asyncio.to_thread(self._search, params, self._workspace.door(ctx))

    def _search(self, params: dict[str, Any], door: FileDoor) -> ToolResult:
        admitted = door.admit(params.get("path", "."), self._workspace.root, "list")
        if isinstance(admitted, FileRefusal):
            return refused(admitted)
        if not admitted.path.exists:
            return invalid(f"{shown(admitted.path.given)} does not exist; list_dir shows what is there")
        wanted = min(params.get("max_results") or DEFAULT_RESULTS, MAX_RESULTS)
        search = _Search(door, admitted, self._workspace.root, self._ripgrep)
        try:
            by_name = params.get("mode") == "glob"
            found = search.names(params["pattern"]) if by_name else search.lines(params["pattern"], wanted)
            results = list(itertools.islice(found, wanted + 1))
        except PatternError as error:
            return invalid(str(error))
        lines = _within(results[:wanted], self._workspace.max_inline_chars - 300)
        notes = [*search.notes(), *_cut_note(len(lines), len(results))]
        return ToolResult(
            True, output="\n".join([*lines, *notes]) or "no match", metadata={"matches": len(lines)}
        )


class _Search:
    """One search; counts what it passed over."""

    def __init__(self, door: FileDoor, start: Admitted, root: str, ripgrep: str | None) -> None:
        self._door, self._start, self._root, self._ripgrep = door, start, root, ripgrep
        self._walk = FileWalk(door, start)
        self._too_big = 0
        self._is_cut = False
        self._deadline = time.monotonic() + SECONDS

    def names(self, pattern: str) -> Iterator[str]:
        """Files by a glob, which counts from the start folder as it would in a .gitignore there."""
        globs = expanded(pattern)
        if not all(is_cheap_pattern(glob) for glob in globs):
            raise PatternError("the glob has too many wildcards in one name; use fewer")
        spec = GitIgnoreSpec.from_lines(re.sub(r"^([!#])", r"\\\1", glob) for glob in globs)
        base = self._start.path.real.rstrip("/") + "/"
        for entry in self._files():
            if spec.match_file(entry.path.real.removeprefix(base)):
                yield self._shown(entry.path)

    def lines(self, pattern: str, wanted: int) -> Iterator[str]:
        literal = required_literal(pattern).encode()
        with matcher(pattern, wanted + 1, SECONDS) as lines_in:
            for entry in self._sieved(pattern):
                content = self._door.read(Admitted(entry.path, "read"), MAX_FILE_BYTES)
                if isinstance(content, FileRefusal):
                    self._too_big += content.kind == "too_big"
                elif literal in content.data and not is_binary(content.data[:_SNIFFED_BYTES]):
                    name = self._shown(entry.path)
                    yield from (f"{name}:{number}: {text}" for number, text in lines_in.lines(content.data))

    def notes(self) -> Iterator[str]:
        if self._is_cut:
            yield "(there are more files than could be looked at; name a smaller path)"
        if self._too_big:
            yield f"({self._too_big} files over {MAX_FILE_BYTES // 1024**2} MiB were not searched)"
        if self._walk.left_out:
            yield f"({self._walk.left_out} left out: outside what the path policy lets be seen)"

    def _files(self) -> Iterator[Entry]:
        start = self._start.path
        if start.kind == "file":
            yield Entry(os.path.basename(start.real), start)
            return
        for number, entry in enumerate(self._walk.files()):
            if number == MAX_FILES or time.monotonic() > self._deadline:
                self._is_cut = True
                return
            yield entry

    def _sieved(self, pattern: str) -> Iterator[Entry]:
        literal = required_literal(pattern) if self._ripgrep else ""
        if not self._ripgrep or not literal:
            yield from self._files()
            return
        for group in _groups(self._files()):
            kept = files_with(self._ripgrep, literal, [entry.path.real for entry in group], SECONDS)
            # A file too big to be searched is named as such, whether or not it could match.
            yield from (entry for entry in group if entry.path.real in kept or entry.size > MAX_FILE_BYTES)

    def _shown(self, path: ResolvedPath) -> str:
        prefix = self._door.rules.workspace.rstrip("/") + "/"
        return shown(path.real.removeprefix(prefix))


def expanded(glob: str) -> list[str]:
    """A glob's {a,b} alternatives written out, at most 100 of them."""
    done: list[str] = []
    todo = [glob]
    while todo and len(done) + len(todo) <= 100:
        text = todo.pop()
        braces = re.search(r"\{([^{}]*,[^{}]*)\}", text)
        if braces is None:
            done.append(text)
        else:
            todo += [text[: braces.start()] + part + text[braces.end() :] for part in braces[1].split(",")]
    return done + todo


def _groups(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    source = iter(entries)
    while group := list(itertools.islice(source, _GROUP)):
        yield group


def _within(lines: list[str], budget: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        budget -= len(line) + 1
        if budget < 0 and kept:
            break
        kept.append(line)
    return kept


def _cut_note(shown_count: int, found_count: int) -> list[str]:
    if shown_count == found_count:
        return []
    return [f"(the first {shown_count} matches; narrow the pattern or the path for the others)"]
