"""What is known of installed skills beyond their files: where each came from, its pinned digest, what is off.

One JSON file in the bot's state, where no tool and no sandboxed command can reach it.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from echo_bot.files.atomic import sync_folder
from echo_bot.skills.errors import SkillError

FILE_NAME = "skills.json"


class Pin(BaseModel):
    """One skill's entry. `source` is git, url, local, created, or "" for one that was only pinned."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    digest: str
    source: str = ""
    location: str = ""
    ref: str = ""
    path: str = ""
    commit: str = ""
    version: str = ""
    pinned_at: str = ""
    pinned_by: str = ""


class Locked(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pins: dict[str, Pin] = Field(default_factory=dict)
    disabled: tuple[str, ...] = ()

    def with_pin(self, name: str, pin: Pin) -> Locked:
        return Locked(pins={**self.pins, name: pin}, disabled=self.disabled)

    def without(self, name: str) -> Locked:
        pins = {other: pin for other, pin in self.pins.items() if other != name}
        return Locked(pins=pins, disabled=tuple(other for other in self.disabled if other != name))

    def switched(self, name: str, *, on: bool) -> Locked:
        others = [other for other in self.disabled if other != name]
        return Locked(pins=self.pins, disabled=tuple(sorted(others if on else [*others, name])))


class LockFile:
    """The file in the bot's data folder. A file that cannot be read refuses, and is never overwritten."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> Locked:
        try:
            text = (self._folder / FILE_NAME).read_bytes()
        except FileNotFoundError:
            return Locked()
        except OSError as error:
            raise SkillError(f"{self._folder / FILE_NAME} cannot be read: {error.strerror}") from None
        try:
            return Locked.model_validate_json(text)
        except ValidationError:
            raise SkillError(
                f"{self._folder / FILE_NAME} is damaged; restore it, or move it away and pin the skills anew"
            ) from None

    def write(self, locked: Locked) -> None:
        """Whole or not at all; readable for this user alone."""
        text = locked.model_dump_json(indent=1, exclude_defaults=True) + "\n"
        temporary = f".{FILE_NAME}.{secrets.token_hex(8)}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                handle = os.open(
                    temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder
                )
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                os.rename(temporary, FILE_NAME, src_dir_fd=folder, dst_dir_fd=folder)
                sync_folder(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise SkillError(f"{self._folder / FILE_NAME} cannot be written: {error.strerror}") from None
