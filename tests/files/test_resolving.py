"""Resolving follows links as the kernel does and turns every failure into a value."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.files import real_rules, resolve
from echo_bot.policy.guards.paths import PathRules, ResolvedPath


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Path:
    root = tmp_path.resolve()
    (root / "ws/src").mkdir(parents=True)
    (root / "out").mkdir()
    (root / "ws/a.txt").write_text("a")
    (root / "ws/link").symlink_to("a.txt")
    (root / "ws/away").symlink_to(root / "out")
    (root / "ws/dangling").symlink_to("../out/none")
    (root / "ws/one").symlink_to("two")
    (root / "ws/two").symlink_to("one")
    os.mkfifo(root / "ws/fifo")
    return root


def seen(path: str, tree: Path) -> ResolvedPath:
    return resolve(path, str(tree / "ws"))


@pytest.mark.parametrize(
    ("path", "real", "kind"),
    [
        pytest.param("a.txt", "ws/a.txt", "file", id="a file"),
        pytest.param("src/..//./a.txt", "ws/a.txt", "file", id="dots and double slashes"),
        pytest.param("link", "ws/a.txt", "file", id="a link is followed"),
        pytest.param("away/x", "out/x", "missing", id="a link to a folder is followed"),
        pytest.param("away/../a.txt", "a.txt", "missing", id="a parent counts after the link"),
        pytest.param("dangling", "out/none", "missing", id="a dangling link leads to its target"),
        pytest.param("none/deep/x", "ws/none/deep/x", "missing", id="missing folders"),
        pytest.param("none/../link", "ws/a.txt", "file", id="back out of a missing folder"),
        pytest.param("src", "ws/src", "dir", id="a folder"),
        pytest.param(".", "ws", "dir", id="the folder itself"),
        pytest.param("src/..", "ws", "dir", id="a parent at the end"),
        pytest.param("fifo", "ws/fifo", "fifo", id="a fifo"),
    ],
)
def test_where_a_path_leads(tree: Path, path: str, real: str, kind: str) -> None:
    resolved = seen(path, tree)
    assert (resolved.real, resolved.kind, resolved.problem) == (str(tree / real), kind, "")
    assert resolved.given == path


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("a\0b", "nul"),
        ("one", "link_loop"),
        ("x" * 256, "too_long"),
        ("字" * 86, "too_long"),
        ("/".join(["d" * 200] * 30), "too_long"),
        ("a.txt/x", "not_a_folder"),
        ("link/../x", "not_a_folder"),
        ("a\ud800", "not_text"),
    ],
    ids=lambda value: str(value)[:20].encode("unicode_escape").decode(),
)
def test_what_cannot_be_resolved_says_why(tree: Path, path: str, problem: str) -> None:
    assert seen(path, tree).problem == problem


def test_a_name_of_255_bytes_is_fine(tree: Path) -> None:
    assert seen("x" * 255, tree).problem == ""


def test_an_absolute_path_ignores_the_folder(tree: Path) -> None:
    assert seen(f"{tree}/ws/a.txt", tree).kind == "file"
    assert seen("/", tree).real == "/"


def test_hard_links_are_counted(tree: Path) -> None:
    os.link(tree / "ws/a.txt", tree / "ws/b.txt")
    assert seen("b.txt", tree).nlink == 2


@given(st.text(alphabet=st.characters(), max_size=60))
def test_it_never_raises(path: str) -> None:
    assert resolve(path, "/tmp").real.startswith("/")


@given(st.lists(st.sampled_from(["..", ".", "", "ws", "src", "away", "link", "none", "a.txt"]), max_size=8))
def test_it_agrees_with_realpath_where_the_path_goes_through_folders(parts: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve()
        (root / "ws/src").mkdir(parents=True)
        (root / "out").mkdir()
        (root / "ws/away").symlink_to(root / "out")
        path = "/".join(parts) or "."
        resolved = resolve(path, str(root / "ws"))
        if path.startswith("/"):
            return
        assert resolved.problem or resolved.real == os.path.realpath(root / "ws" / path)


def test_rules_are_made_real_and_protected_places_keep_both_spellings(tree: Path) -> None:
    rules = real_rules(PathRules(workspace=str(tree / "ws/away"), protected=(str(tree / "ws/away/bot.db"),)))
    assert rules.workspace == str(tree / "out")
    assert rules.protected == (str(tree / "ws/away/bot.db"), str(tree / "out/bot.db"))
    assert rules.safe_write_root == ""
