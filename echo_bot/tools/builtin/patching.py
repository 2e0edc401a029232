"""patch: apply a unified diff or a V4A patch to several files, all or none."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from echo_bot.files import Admitted, FileDoor, FileRefusal
from echo_bot.files.identity import ABSENT
from echo_bot.files.patches import FileChange, PatchError, apply_hunks, new_text, parse_patch
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.guards.paths import shown
from echo_bot.policy.risk import RiskLevel
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.builtin.changes import Change, Plan, Shown, preview_of, result_of
from echo_bot.tools.builtin.text_file import TextFile, encode, read_text
from echo_bot.tools.builtin.workspace import Preview, Workspace
from echo_bot.tools.builtin.writing import NOT_UNICODE


class PatchTool(Tool):
    name = "patch"
    description = (
        "Apply a patch to one or more files, all or none: a unified diff, or the form *** Begin Patch … "
        "*** End Patch with Add, Update, Delete File and Move to. Places are found by context; line numbers "
        "may be wrong. `path` names the file of a bare hunk without --- and +++ lines."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["patch"].parameters
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
        try:
            changes = parse_patch(params["patch"], params.get("path", ""))
            planned = [_planned(door, self._workspace.root, change) for change in changes]
        except PatchError as error:
            return FileRefusal("failed", f"patch not applied: {error}.")
        refusal = next((plan for plan in planned if isinstance(plan, FileRefusal)), None)
        if refusal is not None:
            return refusal
        plans = [plan for plan in planned if isinstance(plan, Plan)]
        return _as_one(plans)


def _as_one(plans: list[Plan]) -> Plan | FileRefusal:
    changes = tuple(change for plan in plans for change in plan.changes)
    places = [change.target.path.real for change in changes]
    twice = next((place for place in places if places.count(place) > 1), "")
    if twice:
        return FileRefusal("failed", f"patch not applied: it changes {shown(twice)} under two names.")
    return Plan(
        changes,
        tuple(diff for plan in plans for diff in plan.diffs),
        "\n".join(plan.summary for plan in plans),
    )


def _planned(door: FileDoor, root: str, change: FileChange) -> Plan | FileRefusal:
    target = door.admit(change.path, root, "write")
    if isinstance(target, FileRefusal):
        return target
    if change.kind == "add":
        return _added(target, change)
    file = read_text(door, target)
    if isinstance(file, FileRefusal):
        return file
    if change.kind == "delete":
        return _deleted(target, change, file)
    return _updated(door, root, target, change, file)


def _added(target: Admitted, change: FileChange) -> Plan | FileRefusal:
    if target.path.exists:
        return FileRefusal(
            "failed", f"patch not applied: {shown(change.path)} is to be added but exists already."
        )
    text = new_text(change.hunks)
    data = encode(text)
    if data is None:
        return NOT_UNICODE
    return Plan(
        (Change(target, None, data, ABSENT),),
        (Shown(change.path, None, text),),
        f"added {shown(change.path)}",
    )


def _deleted(target: Admitted, change: FileChange, file: TextFile) -> Plan:
    if change.hunks:
        # A unified diff shows what it deletes: it must still be that.
        rest = apply_hunks(file.text, change.hunks, change.path)
        if rest:
            raise PatchError(f"{change.path} holds more than the patch deletes; read the file again")
    return Plan(
        (Change(target, file.data, None, file.identity),),
        (Shown(change.path, file.text, None),),
        f"deleted {shown(change.path)}",
    )


def _updated(
    door: FileDoor, root: str, target: Admitted, change: FileChange, file: TextFile
) -> Plan | FileRefusal:
    text = apply_hunks(file.text, change.hunks, change.path)
    data = file.encoded(text)
    if data is None:
        return NOT_UNICODE
    diff = (Shown(change.path, file.text, text, change.new_path),)
    if not change.new_path:
        return Plan((Change(target, file.data, data, file.identity),), diff, f"changed {shown(change.path)}")
    destination = door.admit(change.new_path, root, "write")
    if isinstance(destination, FileRefusal):
        return destination
    if destination.path.exists:
        return FileRefusal("failed", f"patch not applied: {shown(change.new_path)} exists already.")
    return Plan(
        (Change(destination, None, data, ABSENT), Change(target, file.data, None, file.identity)),
        diff,
        f"moved {shown(change.path)} to {shown(change.new_path)}",
    )
