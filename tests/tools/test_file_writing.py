"""write_file, edit_file and patch: what they change, what they refuse, what they show beforehand."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from echo_bot.files import FileDoor, content_identity
from echo_bot.policy.call import BoundFile
from echo_bot.policy.guards.paths import PathRules
from echo_bot.tools.base import Tool
from echo_bot.tools.builtin.patching import PatchTool
from echo_bot.tools.builtin.workspace import Workspace
from echo_bot.tools.builtin.writing import EditFileTool, WriteFileTool


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    root = tmp_path.resolve()
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    (root / "b.txt").write_text("old\n")
    return root


@pytest.fixture(name="workspace")
def _workspace(root: Path) -> Workspace:
    rules = PathRules(
        workspace=str(root), restrict_to_workspace=True, home="/nobody", protected_write=(f"{root}/skills",)
    )
    door = FileDoor(rules)
    return Workspace(str(root), lambda ctx: door)


async def test_a_file_is_created_with_its_folders_and_replaced(workspace: Workspace, root: Path) -> None:
    tool = WriteFileTool(workspace)
    created = await tool.execute({"path": "x/y.txt", "content": "1\n2"})
    assert (created.success, created.output) == (True, "created x/y.txt (2 lines)")
    replaced = await tool.execute({"path": "x/y.txt", "content": ""})
    assert replaced.output == "replaced x/y.txt (0 lines)"
    assert (root / "x/y.txt").read_bytes() == b""


async def test_a_write_is_previewed_as_a_diff_bound_to_what_is_there(
    workspace: Workspace, root: Path
) -> None:
    preview = await WriteFileTool(workspace).preview({"path": "b.txt", "content": "new\n"})
    assert preview.diff == "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-old\n+new\n"
    assert preview.bound_files == (BoundFile(f"{root}/b.txt", content_identity(f"{root}/b.txt")),)
    fresh = await WriteFileTool(workspace).preview({"path": "c.txt", "content": "new"})
    assert fresh.diff == "--- /dev/null\n+++ b/c.txt\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n"
    assert fresh.bound_files == (BoundFile(f"{root}/c.txt", "absent"),)
    assert (root / "b.txt").read_text() == "old\n"
    assert not (root / "c.txt").exists()


async def test_a_binary_file_is_replaced_and_named_in_the_preview(workspace: Workspace, root: Path) -> None:
    (root / "b.bin").write_bytes(b"\0\1")
    preview = await WriteFileTool(workspace).preview({"path": "b.bin", "content": "text\n"})
    assert "-(2 bytes, not text)\n+text\n" in preview.diff
    assert (await WriteFileTool(workspace).execute({"path": "b.bin", "content": "text\n"})).success


@pytest.mark.parametrize(
    ("old", "new", "everywhere", "text", "said"),
    [
        pytest.param("two", "2", False, "one\n2\nthree\n", "edited a.txt in 1 place", id="a unique text"),
        pytest.param("\ntwo\n", "\n", False, "one\nthree\n", "edited a.txt in 1 place", id="over line ends"),
        pytest.param("e", "E", True, "onE\ntwo\nthrEE\n", "edited a.txt in 3 places", id="every place"),
    ],
)
async def test_a_text_is_replaced(
    workspace: Workspace, root: Path, old: str, new: str, everywhere: bool, text: str, said: str
) -> None:
    params = {"path": "a.txt", "old_string": old, "new_string": new, "replace_all": everywhere}
    result = await EditFileTool(workspace).execute(params)
    assert (result.output, (root / "a.txt").read_text()) == (said, text)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("e", "E", "found 3 times"),
        ("four", "4", "found 0 times"),
        ("", "x", "is empty"),
        ("two", "two", "nothing to change"),
        ("two", "\ud800", "not valid Unicode"),
    ],
)
async def test_an_unclear_edit_changes_nothing(
    workspace: Workspace, root: Path, old: str, new: str, said: str
) -> None:
    params = {"path": "a.txt", "old_string": old, "new_string": new}
    result = await EditFileTool(workspace).execute(params)
    assert (result.success, result.error_kind) == (False, "business")
    assert said in result.error
    assert said in (await EditFileTool(workspace).preview(params)).problem
    assert (root / "a.txt").read_text() == "one\ntwo\nthree\n"


async def test_line_ends_mark_and_mode_survive_an_edit(workspace: Workspace, root: Path) -> None:
    (root / "win.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    os.chmod(root / "win.txt", 0o750)
    result = await EditFileTool(workspace).execute(
        {"path": "win.txt", "old_string": "one\ntwo", "new_string": "1\n2\n3"}
    )
    assert result.success
    assert (root / "win.txt").read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n3\r\n"
    assert stat.S_IMODE((root / "win.txt").stat().st_mode) == 0o750


async def test_mixed_line_ends_are_left_alone(workspace: Workspace, root: Path) -> None:
    (root / "mixed.txt").write_bytes(b"a\r\nb\nc\r\n")
    await EditFileTool(workspace).execute({"path": "mixed.txt", "old_string": "b", "new_string": "B"})
    assert (root / "mixed.txt").read_bytes() == b"a\r\nB\nc\r\n"


async def test_what_is_not_text_is_not_edited(workspace: Workspace, root: Path) -> None:
    (root / "latin.txt").write_bytes(b"caf\xe9")
    result = await EditFileTool(workspace).execute(
        {"path": "latin.txt", "old_string": "c", "new_string": "k"}
    )
    assert "not UTF-8" in result.error


V4A = """*** Begin Patch
*** Update File: a.txt
@@
-two
+2
*** Add File: new/c.txt
+hello
*** Delete File: b.txt
*** End Patch
"""
UNIFIED = """--- a/a.txt
+++ b/a.txt
@@ -9,3 +9,3 @@
 one
-two
+2
 three
--- /dev/null
+++ b/new/c.txt
@@ -0,0 +1 @@
+hello
--- a/b.txt
+++ /dev/null
@@ -1 +0,0 @@
-old
"""


@pytest.mark.parametrize("patch", [V4A, UNIFIED], ids=["V4A", "unified"])
async def test_a_patch_changes_adds_and_deletes(workspace: Workspace, root: Path, patch: str) -> None:
    preview = await PatchTool(workspace).preview({"patch": patch})
    assert [(bound.path, bound.identity == "absent") for bound in preview.bound_files] == [
        (f"{root}/a.txt", False),
        (f"{root}/new/c.txt", True),
        (f"{root}/b.txt", False),
    ]
    assert "-two\n+2\n" in preview.diff
    assert "+++ /dev/null\n@@ -1 +0,0 @@\n-old\n" in preview.diff
    result = await PatchTool(workspace).execute({"patch": patch})
    assert result.output == "changed a.txt\nadded new/c.txt\ndeleted b.txt"
    assert (root / "a.txt").read_text() == "one\n2\nthree\n"
    assert (root / "new/c.txt").read_text() == "hello\n"
    assert not (root / "b.txt").exists()


async def test_a_patch_moves_a_file_and_shows_only_what_changes(workspace: Workspace, root: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: d/e.txt\n@@\n-two\n+2\n*** End Patch"
    preview = await PatchTool(workspace).preview({"patch": patch})
    assert preview.diff == "--- a/a.txt\n+++ b/d/e.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
    result = await PatchTool(workspace).execute({"patch": patch})
    assert result.output == "moved a.txt to d/e.txt"
    assert (root / "d/e.txt").read_text() == "one\n2\nthree\n"
    assert not (root / "a.txt").exists()


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("nonsense", "changes no file"),
        ("*** Begin Patch\n*** Update File: none\n@@\n-a\n+b\n*** End Patch", "does not exist"),
        ("*** Begin Patch\n*** Add File: a.txt\n+b\n*** End Patch", "exists already"),
        (
            "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-two\n+2\n*** End Patch",
            "exists already",
        ),
        ("--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-other\n", "does not fit"),
        ("*** Begin Patch\n*** Add File: x\n+b\n*** Add File: ./x\n+c\n*** End Patch", "under two names"),
        ("*** Begin Patch\n*** Add File: ../x\n+b\n*** End Patch", "outside the workspace"),
    ],
)
async def test_a_patch_that_does_not_fit_changes_nothing(
    workspace: Workspace, root: Path, patch: str, said: str
) -> None:
    combined = (
        patch
        if "Begin" not in patch
        else patch.replace("Begin Patch\n", "Begin Patch\n*** Add File: z\n+z\n")
    )
    result = await PatchTool(workspace).execute({"patch": combined})
    assert not result.success
    assert said in result.error
    assert sorted(os.listdir(root)) == ["a.txt", "b.txt"]


async def test_a_patch_that_fails_in_the_middle_is_taken_back(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink = os.unlink

    def refuse(path: str, *, dir_fd: int | None = None) -> None:
        if path == "b.txt":
            raise PermissionError(13, "Permission denied")
        unlink(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", refuse)
    result = await PatchTool(workspace).execute({"patch": V4A})
    assert (result.success, result.error_kind) == (False, "business")
    assert (root / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert sorted(os.listdir(root)) == ["a.txt", "b.txt"]


TOOLS: list[tuple[Callable[[Workspace], Tool], dict[str, str]]] = [
    (WriteFileTool, {"content": "x"}),
    (EditFileTool, {"old_string": "a", "new_string": "b"}),
    (PatchTool, {"patch": "@@\n-a\n+b\n"}),
]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "skills/x.md", "/dev/null", "~/x", "a\u202eb"])
@pytest.mark.parametrize(("build", "params"), TOOLS, ids=["write_file", "edit_file", "patch"])
async def test_no_writing_tool_gets_around_the_policy(
    workspace: Workspace, path: str, build: Callable[[Workspace], Tool], params: dict[str, str]
) -> None:
    result = await build(workspace).execute({"path": path, **params})
    assert (result.success, result.error_kind) == (False, "denied")
