"""Where skills are kept, and what `skills.paths` must not be."""

from __future__ import annotations

from pathlib import Path

import pytest

from echo_bot.config.checks import check
from echo_bot.config.loader import config_from_keys
from echo_bot.config.policy import policy_settings


@pytest.mark.parametrize(
    ("path", "refused"),
    [("{ws}", True), (".", True), ("{ws}/..", True), ("{ws}/skills", False), ("s", False)],
)
def test_a_skill_folder_never_holds_the_workspace(path: str, refused: bool, tmp_path: Path) -> None:
    keys = {"workspace": str(tmp_path / "ws"), "skills.paths": [path.format(ws=tmp_path / "ws")]}
    found = [each.key for each in check(config_from_keys(keys)) if each.refuses]
    assert found == (["skills.paths"] if refused else [])


def test_skill_folders_are_kept_from_writing(tmp_path: Path) -> None:
    keys: dict[str, object] = {"workspace": str(tmp_path / "ws"), "data_dir": str(tmp_path / "data")}
    keys["skills.paths"] = ["mine", "/srv/s"]
    kept = policy_settings(config_from_keys(keys)).places.protected_write
    assert {str(tmp_path / "data/skills"), str(tmp_path / "ws/mine"), "/srv/s"} <= set(kept)
