"""read_file and list_dir as a model meets them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from echo_bot.files import FileDoor
from echo_bot.policy.guards.paths import PathRules
from echo_bot.tools.builtin.reading import ListDirTool, ReadFileTool
from echo_bot.tools.builtin.workspace import Workspace


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@pytest.fixture(name="workspace")
def _workspace(root: Path) -> Workspace:
    door = FileDoor(PathRules(workspace=str(root), restrict_to_workspace=True, home="/nobody"))
    return Workspace(str(root), lambda ctx: door)


async def test_a_file_is_shown_with_line_numbers_and_its_total(workspace: Workspace, root: Path) -> None:
    (root / "a.txt").write_text("one\r\n\ntwo")
    result = await ReadFileTool(workspace).execute({"path": "a.txt"})
    assert result.output == "a.txt: lines 1-3 of 3\n     1\tone\n     2\t\n     3\ttwo"
    assert result.metadata == {"lines": 3}


async def test_offset_and_limit_page_and_the_way_on_is_named(workspace: Workspace, root: Path) -> None:
    (root / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 101)))
    result = await ReadFileTool(workspace).execute({"path": "a.txt", "offset": 10, "limit": 2})
    assert result.output == "a.txt: lines 10-11 of 100\n    10\t10\n    11\t11\n(go on with offset=12)"
    beyond = await ReadFileTool(workspace).execute({"path": "a.txt", "offset": 101})
    assert beyond.output == "a.txt has 100 lines; there is no line 101."


async def test_a_page_stays_below_what_would_be_spilled(workspace: Workspace, root: Path) -> None:
    (root / "a.txt").write_text("x" * 99 + "\n" + ("y" * 99 + "\n") * 999)
    result = await ReadFileTool(workspace).execute({"path": "a.txt"})
    assert len(result.output) <= workspace.max_inline_chars
    assert "of 1,000\n" in result.output
    assert "(go on with offset=" in result.output


async def test_a_long_line_is_cut_and_says_so(workspace: Workspace, root: Path) -> None:
    (root / "a.txt").write_text("x" * 100_000 + "\nend\n")
    result = await ReadFileTool(replace(workspace, max_inline_chars=60_000)).execute({"path": "a.txt"})
    assert "… (the line has 100,001 bytes)\n     2\tend" in result.output


async def test_every_page_of_a_file_comes_in_turn(workspace: Workspace, root: Path) -> None:
    lines = [f"line {n} " + "z" * (n % 97) for n in range(1, 700)]
    (root / "a.txt").write_text("\n".join(lines))
    seen: list[str] = []
    while len(seen) < len(lines):
        result = await ReadFileTool(workspace).execute({"path": "a.txt", "offset": len(seen) + 1})
        seen += [line.split("\t", 1)[1] for line in result.output.split("\n") if "\t" in line]
    assert seen == lines


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(b"", "a is empty.", id="an empty file"),
        pytest.param(b"\x89PNG\0\0", "a is a binary file of 6 bytes; not shown.", id="a binary file"),
        pytest.param(b"\xef\xbb\xbfhi", "a: lines 1-1 of 1\n     1\thi", id="a byte order mark"),
        pytest.param(b"caf\xe9", "a: lines 1-1 of 1\n     1\tcaf\ufffd", id="another encoding"),
    ],
)
async def test_unusual_content(workspace: Workspace, root: Path, data: bytes, said: str) -> None:
    (root / "a").write_bytes(data)
    assert (await ReadFileTool(workspace).execute({"path": "a"})).output == said


@pytest.mark.parametrize(
    ("path", "kind", "said"),
    [
        ("../x", "denied", "is outside the workspace"),
        ("/etc/shadow", "denied", "a password or key file"),
        ("none", "business", "does not exist"),
        (".", "business", "use list_dir"),
        ("a\0b", "denied", "U+0000"),
    ],
)
async def test_refusals_are_results(workspace: Workspace, path: str, kind: str, said: str) -> None:
    result = await ReadFileTool(workspace).execute({"path": path})
    assert (result.success, result.error_kind) == (False, kind)
    assert said in result.error


async def test_a_huge_file_does_not_hold_up_the_loop(workspace: Workspace, root: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.write(b"a line\n" * 2000)
        file.truncate(300 * 1024 * 1024)
    reading = asyncio.create_task(ReadFileTool(workspace).execute({"path": "huge", "limit": 1}))
    turns = 0
    while not reading.done():
        await asyncio.sleep(0.002)
        turns += 1
    assert turns > 5
    assert (await reading).output.startswith("huge: lines 1-1 of 2,001\n")


async def test_a_folder_is_listed_to_the_depth_asked_for(workspace: Workspace, root: Path) -> None:
    (root / "src/deep").mkdir(parents=True)
    (root / "src/deep/x.py").write_text("12345")
    (root / "b.txt").write_text("")
    (root / "near").symlink_to("b.txt")
    flat = await ListDirTool(workspace).execute({"path": "."})
    assert flat.output == f"b.txt  (0 bytes)\nnear -> {root}/b.txt\nsrc/"
    deep = await ListDirTool(workspace).execute({"path": "src", "depth": 2})
    assert deep.output == "deep/\n  x.py  (5 bytes)"


async def test_what_the_policy_hides_is_counted(workspace: Workspace, root: Path) -> None:
    (root / ".env").write_text("K=1")
    (root / "away").symlink_to("/etc")
    result = await ListDirTool(workspace).execute({"path": "."})
    assert result.output == "(2 left out: outside what the path policy lets be seen)"


async def test_a_large_folder_is_cut_with_a_note(workspace: Workspace, root: Path) -> None:
    for number in range(600):
        (root / f"file-{number:04}").touch()
    result = await ListDirTool(workspace).execute({"path": ".", "depth": 3})
    assert len(result.output) <= workspace.max_inline_chars
    assert result.output.endswith("(there is more; list a folder further in, or with less depth)")


async def test_control_characters_in_names_are_written_out(workspace: Workspace, root: Path) -> None:
    (root / "a\x1b[2J").touch()
    listed = await ListDirTool(workspace).execute({"path": "."})
    assert "\x1b" not in listed.output
