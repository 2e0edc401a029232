"""write_file and edit_file: put content into files of the workspace."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from echo_bot.files import Admitted, FileDoor, FileRefusal
from echo_bot.files.identity import ABSENT
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.guards.paths import shown
from echo_bot.policy.risk import RiskLevel
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.builtin.changes import Change, Plan, Shown, preview_of, result_of
from echo_bot.tools.builtin.text_file import decode, encode, read_text
from echo_bot.tools.builtin.workspace import Preview, Workspace


class WriteFileTool(Tool):
    name = "write_file"
    description = "Write a whole text file: create it, with missing folders, or replace its content."
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["write_file"].parameters
    capabilities = ("fs.write",)
    risk_level = RiskLevel.WRITE.value

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def preview(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> Preview:
        return preview_of(await asyncio.to_thread(self._plan, params, self._workspace.door(ctx)))

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        door = self._workspace.door(ctx)
        plan = await asyncio.to_thread(self._plan, params, door)
        return await result_of(plan, door, self._workspace, ctx)

    def _plan(self, params: dict[str, Any], door: FileDoor) -> Plan | FileRefusal:
        path, text = params["path"], params["content"]
        target = door.admit(path, self._workspace.root, "write")
        if isinstance(target, FileRefusal):
            return target
        after = encode(text)
        if after is None:
            return NOT_UNICODE
        before = _before(door, target)
        if isinstance(before, FileRefusal):
            return before
        data, identity, old_text = before
        lines = text.count("\n") + (not text.endswith("\n") if text else 0)
        counted = "1 line" if lines == 1 else f"{lines} lines"
        return Plan(
            (Change(target, data, after, identity),),
            (Shown(path, old_text, text),),
            f"{'created' if old_text is None else 'replaced'} {shown(path)} ({counted})",
        )


NOT_UNICODE = FileRefusal(
    "failed", "the new content is not valid Unicode (a lone surrogate); write it otherwise."
)


def _before(door: FileDoor, target: Admitted) -> tuple[bytes | None, str, str | None] | FileRefusal:
    """The bytes in place, their identity, and how they look in a diff."""
    content = door.read(target)
    if not isinstance(content, FileRefusal):
        text = decode(content.data, content.identity)
        return (
            content.data,
            content.identity,
            text.text if text else f"({len(content.data):,} bytes, not text)\n",
        )
    if content.kind == "not_found":
        return None, ABSENT, None
    return (None, "", "(a file too large to show)\n") if content.kind == "too_big" else content


class EditFileTool(Tool):
    name = "edit_file"
    description = (
        "Replace a text in a file. `old_string` must stand there exactly once, unless replace_all is true; "
        "give enough lines around it to make it unique."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["edit_file"].parameters
    capabilities = ("fs.read", "fs.write")
    risk_level = RiskLevel.WRITE.value

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def preview(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> Preview:
        return preview_of(await asyncio.to_thread(self._plan, params, self._workspace.door(ctx)))

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        door = self._workspace.door(ctx)
        plan = await asyncio.to_thread(self._plan, params, door)
        return await result_of(plan, door, self._workspace, ctx)

    def _plan(self, params: dict[str, Any], door: FileDoor) -> Plan | FileRefusal:
        target = door.admit(params["path"], self._workspace.root, "write")
        if isinstance(target, FileRefusal):
            return target
        file = read_text(door, target)
        if isinstance(file, FileRefusal):
            return file
        edited = replaced(
            file.text, params["old_string"], params["new_string"], params.get("replace_all", False)
        )
        if isinstance(edited, FileRefusal):
            return edited
        text, count = edited
        after = file.encoded(text)
        if after is None:
            return NOT_UNICODE
        places = "1 place" if count == 1 else f"{count} places"
        return Plan(
            (Change(target, file.data, after, file.identity),),
            (Shown(params["path"], file.text, text),),
            f"edited {shown(params['path'])} in {places}",
        )


def replaced(text: str, old: str, new: str, replace_all: bool) -> tuple[str, int] | FileRefusal:
    """The edited text and in how many places; a refusal says how often `old` was found."""
    if not old:
        return FileRefusal("failed", "old_string is empty; use write_file to write a whole file.")
    if old == new:
        return FileRefusal("failed", "old_string and new_string are the same; there is nothing to change.")
    if "\r" not in text:
        old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    count = text.count(old)
    if count == 0:
        return FileRefusal("failed", "old_string was found 0 times; read the file and copy it exactly.")
    if count > 1 and not replace_all:
        return FileRefusal(
            "failed", f"old_string was found {count} times; add lines around it, or set replace_all."
        )
    return text.replace(old, new), count
