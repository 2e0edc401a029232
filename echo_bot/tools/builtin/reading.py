"""read_file and list_dir: look into files and folders of the workspace."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from echo_bot.files import Admitted, Entry, FileDoor, FileRefusal, Listing
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.guards.paths import ResolvedPath, shown
from echo_bot.policy.risk import RiskLevel
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.builtin.pages import Page, is_binary, read_page, read_start
from echo_bot.tools.builtin.workspace import Workspace, refused

MAX_DEPTH = 10
MAX_ENTRIES = 1000


class ReadFileTool(Tool):
    name = "read_file"
    description = (
        "Read a text file: numbered lines, and how many there are. A long file comes in pages: go on with "
        "`offset` (the first line, from 1) and `limit` (how many lines)."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["read_file"].parameters
    capabilities = ("fs.read",)
    risk_level = RiskLevel.READ_ONLY.value

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        return await asyncio.to_thread(self._read, params, self._workspace.door(ctx))

    def _read(self, params: dict[str, Any], door: FileDoor) -> ToolResult:
        admitted = door.admit(params["path"], self._workspace.root, "read")
        if isinstance(admitted, FileRefusal):
            return refused(admitted)
        file = door.open(admitted)
        if isinstance(file, FileRefusal):
            return refused(file)
        first = max(1, params.get("offset", 1))
        with file:
            if is_binary(read_start(file)):
                size = file.seek(0, 2)
                return ToolResult(
                    True, output=f"{params['path']} is a binary file of {size:,} bytes; not shown."
                )
            page = read_page(file, first, params.get("limit", 0), self._workspace.max_inline_chars - 200)
        return ToolResult(True, output=page_text(shown(params["path"]), page), metadata={"lines": page.total})


def page_text(name: str, page: Page) -> str:
    """A page with a heading that says what part it is and how to go on."""
    total = f"{page.total:,}" if page.is_counted else f"more than {page.total:,}"
    if not page.total:
        return f"{name} is empty."
    if not page.lines:
        return f"{name} has {total} lines; there is no line {page.first:,}."
    heading = f"{name}: lines {page.first}-{page.last} of {total}"
    rest = f"\n(go on with offset={page.last + 1})" if page.last < page.total else ""
    return "\n".join([heading, *page.lines]) + rest


class ListDirTool(Tool):
    name = "list_dir"
    description = "List a folder: names, sizes, folders with a slash at the end. `depth` levels deep (1)."
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["list_dir"].parameters
    capabilities = ("fs.read",)
    risk_level = RiskLevel.READ_ONLY.value

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        return await asyncio.to_thread(self._list, params, self._workspace.door(ctx))

    def _list(self, params: dict[str, Any], door: FileDoor) -> ToolResult:
        admitted = door.admit(params["path"], self._workspace.root, "list")
        if isinstance(admitted, FileRefusal):
            return refused(admitted)
        listing = door.entries(admitted)
        if isinstance(listing, FileRefusal):
            return refused(listing)
        tree = _Tree(
            door, min(params.get("depth", 1) or 1, MAX_DEPTH), self._workspace.max_inline_chars - 200
        )
        shown_lines = list(tree.lines(listing, 1))
        return ToolResult(True, output="\n".join([*shown_lines, *tree.notes()]) or "(empty)")


@dataclass(slots=True)
class _Tree:
    """One listing in the making: stops at its budget and counts what it does not show."""

    door: FileDoor
    depth: int
    budget: int
    entries: int = 0
    left_out: int = 0
    is_cut: bool = False

    def lines(self, listing: Listing, level: int) -> Iterator[str]:
        self.left_out += listing.left_out
        for entry in listing.entries:
            text = "  " * (level - 1) + _entry_text(entry)
            self.entries += 1
            self.budget -= len(text) + 1
            if self.budget < 0 or self.entries > MAX_ENTRIES:
                self.is_cut = True
                return
            yield text
            if entry.path.kind == "dir" and not entry.is_link and level < self.depth:
                yield from self._below(entry.path, level + 1)

    def _below(self, folder: ResolvedPath, level: int) -> Iterator[str]:
        listing = self.door.entries(Admitted(folder, "list"))
        if isinstance(listing, FileRefusal):
            yield "  " * (level - 1) + f"({listing.sentence})"
        else:
            yield from self.lines(listing, level)

    def notes(self) -> Iterator[str]:
        if self.is_cut:
            yield "(there is more; list a folder further in, or with less depth)"
        if self.left_out:
            yield f"({self.left_out} left out: outside what the path policy lets be seen)"


def _entry_text(entry: Entry) -> str:
    name = shown(entry.name)
    if entry.is_link:
        return f"{name} -> {shown(entry.path.real)}"
    match entry.path.kind:
        case "dir":
            return f"{name}/"
        case "file":
            return f"{name}  ({entry.size:,} bytes)"
        case kind:
            return f"{name}  ({kind})"
