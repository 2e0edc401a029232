"""A received file as its turn knows it, in the journal and in words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from echo_bot.events import TurnId
from echo_bot.text.fences import fence
from echo_bot.text.language import _

MOST_IMAGES = 8
MOST_IMAGE_BYTES = 20 * 1024 * 1024
"""What a model is shown of one message at most, all its images together."""


class FileJournal(Protocol):
    """The part of a turn's journal that files need."""

    @property
    def turn_id(self) -> TurnId: ...

    def file(self, key: str) -> str | None: ...

    async def add_file(self, key: str, payload: str) -> None: ...


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """`path` is relative to the workspace, "" when the file is not there: then `problem` is a sentence.

    `image` is the type of an image, by its content; "" for anything else. Of a voice message, `words` are
    what was said, or `unheard` says why they are not known; both are "" while nobody has listened.
    """

    name: str
    path: str = ""
    mime: str = ""
    size: int = 0
    problem: str = ""
    image: str = ""
    words: str = ""
    unheard: str = ""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ReceivedFile:
        return cls(**json.loads(text))

    @property
    def kind(self) -> str:
        return ", ".join(part for part in (self.mime, f"{self.size:,} bytes") if part)


def heard_key(key: str) -> str:
    """Where the journal keeps a voice message once somebody has listened, beside its file at `key`."""
    return f"{key}:heard"


def images_shown(files: Sequence[ReceivedFile]) -> tuple[ReceivedFile, ...]:
    """The images that a model which sees is shown: in their order, as many as the limits allow."""
    shown: list[ReceivedFile] = []
    left = MOST_IMAGE_BYTES
    for file in files:
        if file.image and file.size <= left and len(shown) < MOST_IMAGES:
            shown.append(file)
            left -= file.size
    return tuple(shown)


def for_model(files: Sequence[ReceivedFile]) -> list[str]:
    """One line each, and one more for a voice that was not understood.

    Names were cleaned, so none can end its line and begin another.
    """
    shown = images_shown(files)
    lines = []
    for file in files:
        if not file.path:
            lines.append(f"[file not received: {file.name}: {file.problem}]")
            continue
        note = "; too many or too large to be shown" if file.image and file not in shown else ""
        lines.append(f"[received file: {file.path} ({file.kind}){note}]")
        if file.unheard:
            lines.append(f"[voice message not transcribed: {file.unheard}]")
    return lines


def spoken(files: Sequence[ReceivedFile]) -> list[str]:
    """What the sender said by voice, marked as such."""
    return [f"[voice message, transcribed] {file.words}" for file in files if file.words]


def for_people(files: Sequence[ReceivedFile]) -> str:
    """Where each file was put and what was heard in it, as markdown; "" without files."""
    return "\n".join(map(_for_people, files))


def _for_people(file: ReceivedFile) -> str:
    if not file.path:
        return _("Not received: {name}: {problem}").format(name=file.name, problem=_(file.problem))
    told = _("Received `{path}` ({kind}).").format(path=file.path, kind=file.kind)
    if file.words:
        return told + _(" Transcribed:") + f"\n{fence(file.words)}"
    if not file.unheard:
        return told
    return told + _(" Not transcribed: {problem}.").format(problem=_(file.unheard))
