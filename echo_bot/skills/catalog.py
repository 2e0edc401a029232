"""The skills there are: those in the package, the installed ones, and the operator's own folders."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from echo_bot.skills.errors import SkillError
from echo_bot.skills.lock import Locked, LockFile, Pin
from echo_bot.skills.manifest import MAX_SKILL_FILE_BYTES, SKILL_FILE, Manifest, parse_skill
from echo_bot.skills.paths import path_problem
from echo_bot.skills.tree import SkillTree

PACKAGED = Path(__file__).parent / "packaged"
BY_CONFIG = "skills.disabled"
BY_PERSON = "skill_manage"


class Origin(StrEnum):
    PACKAGED = "packaged"
    INSTALLED = "installed"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill. `disabled_by` is what switched it off, or ""; `hides`: others of the same name."""

    manifest: Manifest
    body: str
    origin: Origin
    folder: Path
    pin: Pin | None = None
    disabled_by: str = ""
    hides: tuple[Origin, ...] = ()

    @property
    def name(self) -> str:
        return self.manifest.name

    @property
    def tree(self) -> SkillTree:
        return SkillTree(self.folder)


@dataclass(frozen=True, slots=True)
class Broken:
    """A folder that should be a skill and is none, and why."""

    name: str
    origin: Origin
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    skills: tuple[Skill, ...]
    broken: tuple[Broken, ...]


@dataclass(frozen=True, slots=True)
class SkillPlaces:
    """`installed` is the folder that skill_install fills; `own` are the operator's, the first one wins."""

    installed: Path
    own: tuple[Path, ...] = ()
    packaged: Path = PACKAGED
    disabled: Collection[str] = field(default_factory=frozenset)


class SkillCatalog:
    """Looks at the folders anew each time. All methods block and raise SkillError."""

    def __init__(self, places: SkillPlaces, lock: LockFile) -> None:
        self._places, self._lock = places, lock

    @property
    def places(self) -> SkillPlaces:
        return self._places

    def found(self) -> Found:
        """Every skill by name. Of several with one name the operator's own counts, then the installed one."""
        locked = self._lock.read()
        skills: dict[str, Skill] = {}
        broken: list[Broken] = []
        for origin, folder in self._folders():
            try:
                skill = self._load(origin, folder, locked)
            except SkillError as error:
                broken.append(Broken(folder.name, origin, str(error)))
                continue
            known = skills.get(skill.name)
            skills[skill.name] = skill if known is None else _hiding(known, origin)
        return Found(tuple(skills[name] for name in sorted(skills)), tuple(broken))

    def get(self, name: str) -> Skill:
        """Raises SkillError with the nearest name, or with what is wrong with the skill's folder."""
        found = self.found()
        for skill in found.skills:
            if skill.name == name:
                return skill
        for broken in found.broken:
            if broken.name == name:
                raise SkillError(f"the skill {name} cannot be used: {broken.reason}")
        near = difflib.get_close_matches(name, [skill.name for skill in found.skills], n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else "skills_list names those there are"
        raise SkillError(f"there is no skill {name[:80]!r}; {hint}")

    def offered(self) -> tuple[Skill, ...]:
        """Those that the model is told of."""
        return tuple(skill for skill in self.found().skills if not skill.disabled_by)

    def _folders(self) -> Iterator[tuple[Origin, Path]]:
        places: Sequence[tuple[Origin, Path]] = (
            *((Origin.OWN, folder) for folder in self._places.own),
            (Origin.INSTALLED, self._places.installed),
            (Origin.PACKAGED, self._places.packaged),
        )
        for origin, place in places:
            for folder in _subfolders(place):
                yield origin, folder

    def _load(self, origin: Origin, folder: Path, locked: Locked) -> Skill:
        data = SkillTree(folder).read(SKILL_FILE, MAX_SKILL_FILE_BYTES)
        manifest, body = parse_skill(data, str(folder / SKILL_FILE))
        if manifest.name != folder.name:
            raise SkillError(f"its folder must have its name: {folder} holds the skill {manifest.name}")
        return Skill(
            manifest,
            body,
            origin,
            folder,
            pin=None if origin is Origin.PACKAGED else locked.pins.get(manifest.name),
            disabled_by=self._disabled_by(manifest.name, locked),
        )

    def _disabled_by(self, name: str, locked: Locked) -> str:
        if name in self._places.disabled:
            return BY_CONFIG
        return BY_PERSON if name in locked.disabled else ""


def _hiding(skill: Skill, other: Origin) -> Skill:
    return replace(skill, hides=(*skill.hides, other))


def _subfolders(place: Path) -> list[Path]:
    """Folders with a SKILL.md, by name; a place that is one itself counts too. Hidden ones do not."""
    if os.path.lexists(place / SKILL_FILE):
        return [place]
    try:
        names = sorted(os.listdir(place))
    except OSError:
        return []
    return [place / name for name in names if name[0] != "." and os.path.lexists(place / name / SKILL_FILE)]


def drift(skill: Skill) -> str:
    """Why its content must not be run as it is; "" when it may be. Blocks; raises SkillError."""
    if skill.origin is Origin.PACKAGED:
        return ""
    if skill.pin is None:
        if skill.origin is Origin.OWN:
            return ""
        return (
            f"the skill {skill.name} was put there without skill_install; "
            f"skill_manage with action pin and name {skill.name} takes it as it is (a person decides)"
        )
    if skill.tree.digest() == skill.pin.digest:
        return ""
    return (
        f"the files of the skill {skill.name} changed since its digest was pinned; "
        "skill_manage update installs it anew, pin takes it as it is now (a person decides either)"
    )


def scripts_of(skill: Skill) -> dict[str, str]:
    """The Python scripts with their descriptions: those the manifest names, else those under scripts/."""
    if skill.manifest.scripts:
        return dict(skill.manifest.scripts)
    paths = (file.path for file in skill.tree.files())
    return {path: "" for path in paths if path.startswith("scripts/") and path.endswith(".py")}


def script_path(skill: Skill, script: str) -> str:
    """The script's path inside the skill, which may be named without scripts/. Raises SkillError."""
    if problem := path_problem(script):
        raise SkillError(f"script {script[:200]!r} {problem}")
    files = {file.path for file in skill.tree.files()}
    found = next((path for path in (script, f"scripts/{script}") if path in files), "")
    if not found:
        known = ", ".join(scripts_of(skill)) or "none"
        raise SkillError(f"{script!r} is not a script of {skill.name}; its scripts are: {known}")
    if not found.endswith(".py"):
        raise SkillError(f"{found!r} is not a Python script (.py); run others with exec")
    return found
