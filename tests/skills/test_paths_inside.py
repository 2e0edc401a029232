"""Paths inside a skill: whatever passes stays inside, and looks like what it is."""

from __future__ import annotations

import os.path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.skills.paths import collision_key, content_problem, is_housekeeping, path_problem

PARTS = st.one_of(
    st.sampled_from(["..", ".", "", "a", "b.py", "C:", "~", "con", "x ", "\u202egpj.exe", "\\", "..\\x"]),
    st.text(max_size=12),
)


@given(st.lists(PARTS, max_size=12).map("/".join))
def test_a_path_that_passes_stays_inside(path: str) -> None:
    if path_problem(path):
        return
    joined = os.path.normpath(os.path.join("/skill", path))
    assert joined == f"/skill/{path}"
    assert "\\" not in path
    assert not any(ord(c) < 0x20 or c in "\u202e\u200b\u2028" for c in path)


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/.", "C:/x", "c:x", "a\\b", "a\0b", "a\nb",
     "a\u202eb", "a\u200bb", "aux.txt", "a/NUL", "x. ", "x.", " x", "/".join("abcdefghi"), "x" * 201],
)  # fmt: skip
def test_a_path_that_leaves_or_deceives_is_refused(path: str) -> None:
    assert path_problem(path)


@pytest.mark.parametrize("path", ["SKILL.md", "scripts/a b.py", "références/été.md", "a/b/c/d/e/f/g/h"])
def test_an_ordinary_path_passes(path: str) -> None:
    assert not path_problem(path)
    assert not content_problem(path)


@pytest.mark.parametrize(
    "path",
    [".env", ".vscode/tasks.json", "scripts/.hidden", "sitecustomize.py", "scripts/usercustomize.py", "a.pth",
     "venv/pyvenv.cfg", "x.pyc", "lib.so", "a.EXE", "scripts/__pycache__/x.py"],
)  # fmt: skip
def test_what_would_run_by_itself_or_cannot_be_read_is_not_installed(path: str) -> None:
    assert content_problem(path)


def test_what_belongs_to_a_repository_is_left_out() -> None:
    assert is_housekeeping(".github/workflows/x.yml")
    assert is_housekeeping("a/.DS_Store")
    assert not is_housekeeping("scripts/github.py")


def test_names_that_a_file_system_may_fold_collide() -> None:
    assert collision_key("Straße/É.md") == collision_key("STRASSE/e\u0301.MD")
