"""Putting a skill in place: checked whole in memory, written beside, renamed, then pinned."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock

from echo_bot.files.atomic import sync_folder
from echo_bot.skills.bundle import digest_of_files
from echo_bot.skills.catalog import Origin, Skill, SkillCatalog
from echo_bot.skills.errors import SkillError
from echo_bot.skills.lock import LockFile, Pin
from echo_bot.skills.manifest import NAME, SKILL_FILE, Manifest, parse_skill
from echo_bot.skills.scan import injections
from echo_bot.skills.sources import Source

_NEW, _OLD = ".new-", ".old-"


@dataclass(frozen=True, slots=True)
class Installed:
    """What was put in place. `changed` names the files that differ from the version before."""

    manifest: Manifest
    digest: str
    files: Mapping[str, bytes]
    replaced: bool = False
    changed: tuple[str, ...] = ()


class Installer:
    """The one writer of the folder of installed skills. All methods block and raise SkillError."""

    def __init__(self, catalog: SkillCatalog, lock: LockFile, clock: Callable[[], datetime]) -> None:
        self._catalog, self._lock, self._clock = catalog, lock, clock
        self._one_at_a_time = Lock()

    def check(self, files: Mapping[str, bytes]) -> Manifest:
        """Is this a skill, and does no text of it give orders?"""
        if SKILL_FILE not in files:
            raise SkillError(f"no {SKILL_FILE} is in it, so it holds no skill")
        manifest, _ = parse_skill(files[SKILL_FILE], SKILL_FILE)
        if orders := injections(files):
            shown = " ".join(orders[:3]) + (f" And {len(orders) - 3} more." if len(orders) > 3 else "")
            raise SkillError(
                f"its texts do not pass the memory scan. {shown} Whoever has read it and trusts it can put "
                "its folder under skills.paths instead.",
                "denied",
            )
        return manifest

    def install(
        self, files: Mapping[str, bytes], source: Source, by: str, *, replace: bool, expected_name: str = ""
    ) -> Installed:
        """Write and pin. Refuses a name that is taken, unless `replace` is said of an installed skill."""
        with self._one_at_a_time:
            return self._install(files, source, by, replace, expected_name)

    def _install(
        self, files: Mapping[str, bytes], source: Source, by: str, replace: bool, expected_name: str
    ) -> Installed:
        manifest = self.check(files)
        if expected_name and manifest.name != expected_name:
            raise SkillError(f"the skill there is named {manifest.name} now, not {expected_name}")
        before = self._before(manifest.name, replace)
        old = before.tree.read_all() if before is not None else {}
        self._place(manifest.name, files)
        pin = Pin(
            digest=digest_of_files(files),
            source=source.kind,
            location=source.location,
            ref=source.ref,
            path=source.path,
            commit=source.commit,
            version=manifest.shown_version,
            pinned_at=self._clock().isoformat(timespec="seconds"),
            pinned_by=by,
        )
        self._lock.write(self._lock.read().with_pin(manifest.name, pin))
        changed = sorted(path for path in {*old, *files} if old.get(path) != files.get(path))
        return Installed(
            manifest, pin.digest, files, before is not None, tuple(changed) if before is not None else ()
        )

    def pin(self, skill: Skill, by: str) -> Pin:
        """Take the content as it is now."""
        if skill.origin is Origin.PACKAGED:
            raise SkillError(f"{skill.name} is part of Echo Bot itself and needs no pin")
        before = skill.pin or Pin(digest="")
        pin = before.model_copy(
            update={
                "digest": skill.tree.digest(),
                "version": skill.manifest.shown_version,
                "pinned_at": self._clock().isoformat(timespec="seconds"),
                "pinned_by": by,
            }
        )
        with self._one_at_a_time:
            self._lock.write(self._lock.read().with_pin(skill.name, pin))
        return pin

    def remove(self, name: str) -> None:
        """Take an installed skill away, also one that is broken."""
        folder = self._folder(name)
        if not os.path.isdir(folder) or os.path.islink(folder):
            raise SkillError(f"{name} is not an installed skill; only those that skill_install put there go")
        aside = folder.with_name(f"{_OLD}{secrets.token_hex(8)}")
        with self._one_at_a_time:
            os.rename(folder, aside)
            self._lock.write(self._lock.read().without(name))
        shutil.rmtree(aside, ignore_errors=True)

    def switch(self, name: str, *, on: bool) -> None:
        with self._one_at_a_time:
            self._lock.write(self._lock.read().switched(name, on=on))

    def _before(self, name: str, replace: bool) -> Skill | None:
        """The installed skill of that name, if it may be replaced."""
        found = self._catalog.found()
        taken = next((skill for skill in found.skills if skill.name == name), None)
        if taken is not None and taken.origin is not Origin.INSTALLED:
            whose = "part of Echo Bot" if taken.origin is Origin.PACKAGED else "one of skills.paths"
            raise SkillError(f"a skill named {name} is {whose} already; rename one of them")
        if not os.path.lexists(self._folder(name)):
            return None
        if not replace:
            version = (
                f" (version {taken.manifest.shown_version})" if taken and taken.manifest.shown_version else ""
            )
            raise SkillError(f"{name} is installed already{version}; say replace: true to put this one there")
        if taken is None:
            raise SkillError(f"what is installed as {name} is damaged; remove it with skill_manage first")
        return taken

    def _folder(self, name: str) -> Path:
        if not NAME.fullmatch(name):
            raise SkillError(f"{name[:80]!r} is not the name of a skill")
        return self._catalog.places.installed / name

    def _place(self, name: str, files: Mapping[str, bytes]) -> None:
        """The new folder takes the name in one rename; a crash leaves one or the other, or neither."""
        place = self._catalog.places.installed
        target = self._folder(name)
        staging = place / f"{_NEW}{secrets.token_hex(8)}"
        aside = place / f"{_OLD}{secrets.token_hex(8)}"
        try:
            place.mkdir(parents=True, exist_ok=True)
            _sweep(place)
            for path, data in files.items():
                _write(staging / path, data)
            if os.path.lexists(target):
                os.rename(target, aside)
            try:
                os.rename(staging, target)
            except OSError:
                if os.path.lexists(aside):
                    os.rename(aside, target)
                raise
            _sync(place)
        except OSError as error:
            raise SkillError(f"the skill could not be written to {place}: {error.strerror}") from None
        finally:
            shutil.rmtree(staging, ignore_errors=True)
            shutil.rmtree(aside, ignore_errors=True)


def _sweep(place: Path) -> None:
    """What a crash left behind."""
    for name in os.listdir(place):
        if name.startswith((_NEW, _OLD)):
            shutil.rmtree(place / name, ignore_errors=True)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(place: Path) -> None:
    folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync_folder(folder)
    finally:
        os.close(folder)
