"""Handles on what a walk found: no link on the way is followed, and none stays open after a failure."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from echo_bot.errors import StartError
from echo_bot.execution.beneath import close_all, open_all


def test_files_and_folders_are_opened_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / ".env").write_text("x")
    paths = [str(tmp_path / "a" / "b"), str(tmp_path / "a" / ".env")]
    handles = open_all(str(tmp_path), paths)
    assert [os.readlink(f"/proc/self/fd/{handles[path]}") for path in paths] == paths
    close_all(handles.values())


@pytest.mark.parametrize("path", ["link", "away/.env", "missing", "a/missing"])
def test_what_was_exchanged_or_is_gone_is_refused(path: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".env").write_text("SECRET")
    (root / "away").symlink_to("../other")
    (root / "link").symlink_to("../other/.env")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(StartError, match="try again"):
        open_all(str(root), [str(root / "a"), str(root / path)])
    assert len(os.listdir("/proc/self/fd")) == before
