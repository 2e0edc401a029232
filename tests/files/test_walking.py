"""Walking: every visible file once, in order, with .gitignore as git reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from echo_bot.files import Admitted, FileDoor, FileWalk
from echo_bot.files.walking import is_cheap_pattern
from echo_bot.policy.guards.paths import PathRules


def walked(root: Path, path: str = ".") -> list[str]:
    door = FileDoor(PathRules(workspace=str(root), home="/nobody"))
    start = door.admit(path, str(root), "list")
    assert isinstance(start, Admitted)
    return [entry.path.real.removeprefix(f"{root}/") for entry in FileWalk(door, start).files()]


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    root = tmp_path.resolve()
    for name in (
        "a.py",
        "b.log",
        "keep.log",
        "src/c.py",
        "src/deep/d.log",
        "build/x.py",
        ".git/HEAD",
        ".env",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "loop").symlink_to(".")
    return root


def test_files_first_then_folders_by_name_without_links_git_and_hidden_credentials(root: Path) -> None:
    assert walked(root) == ["a.py", "b.log", "keep.log", "build/x.py", "src/c.py", "src/deep/d.log"]


def test_gitignore_leaves_out_and_takes_back(root: Path) -> None:
    (root / ".gitignore").write_text("*.log\n!keep.log\nbuild/\n")
    assert walked(root) == [".gitignore", "a.py", "keep.log", "src/c.py"]


def test_a_nearer_gitignore_wins(root: Path) -> None:
    (root / ".gitignore").write_text("*.log\n")
    (root / "src/.gitignore").write_text("!*.log\n")
    assert walked(root, "src") == ["src/.gitignore", "src/c.py", "src/deep/d.log"]


def test_patterns_from_above_hold_below_but_a_named_folder_is_walked(root: Path) -> None:
    (root / ".gitignore").write_text("build/\n*.log\n")
    assert walked(root, "src") == ["src/c.py"]
    assert walked(root, "build") == ["build/x.py"]


def test_a_costly_pattern_is_passed_over(root: Path) -> None:
    (root / ".gitignore").write_text("*a*a*a*a*a*a*a*a*b\n*.log\n")
    assert walked(root) == [".gitignore", "a.py", "build/x.py", "src/c.py"]
    assert is_cheap_pattern("src/**/*test*.py")
    assert not is_cheap_pattern("*a*b*c*d*e")
