"""What the tests of skills share: making one, in memory and on disk, and a catalog over folders."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from echo_bot.skills.catalog import SkillCatalog, SkillPlaces
from echo_bot.skills.install import Installer
from echo_bot.skills.lock import LockFile

MakeFiles = Callable[..., dict[str, bytes]]
MakeSkill = Callable[..., Path]


def skill_files(
    name: str = "greeting", *, more: str = "", body: str = "Say hello.", **files: str
) -> dict[str, bytes]:
    """A skill's files; in the names of `files` two underscores stand for /, one before py for the dot."""
    head = f"---\nname: {name}\ndescription: Greets people.\n{more}---\n{body}\n"
    named = {path.replace("__", "/").replace("_py", ".py"): text for path, text in files.items()}
    return {"SKILL.md": head.encode(), **{path: text.encode() for path, text in named.items()}}


def written(folder: Path, files: Mapping[str, bytes]) -> Path:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


@pytest.fixture
def files_of() -> MakeFiles:
    return skill_files


@pytest.fixture
def make_skill(tmp_path: Path) -> MakeSkill:
    """Writes a skill under `place`, a folder in the test's own."""

    def make(place: str, name: str = "greeting", **more: str) -> Path:
        return written(tmp_path / place / name, skill_files(name, **more))

    return make


@pytest.fixture
def lock(tmp_path: Path) -> LockFile:
    return LockFile(tmp_path / "state")


@pytest.fixture
def make_catalog(tmp_path: Path, lock: LockFile) -> Callable[..., SkillCatalog]:
    """Folders own, state/skills and packaged below the test's own."""

    def make(disabled: Collection[str] = ()) -> SkillCatalog:
        places = SkillPlaces(
            tmp_path / "state" / "skills",
            own=(tmp_path / "own",),
            packaged=tmp_path / "packaged",
            disabled=frozenset(disabled),
        )
        return SkillCatalog(places, lock)

    return make


@pytest.fixture
def catalog(make_catalog: Callable[..., SkillCatalog]) -> SkillCatalog:
    return make_catalog()


@pytest.fixture
def installer(catalog: SkillCatalog, lock: LockFile) -> Installer:
    return Installer(catalog, lock, lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
