"""A received file as its turn knows it, in the journal and in words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """`path` is relative to the workspace, "" when the file is not there: then `problem` is a sentence."""

    name: str
    path: str = ""
    mime: str = ""
    size: int = 0
    problem: str = ""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ReceivedFile:
        return cls(**json.loads(text))

    @property
    def kind(self) -> str:
        return ", ".join(part for part in (self.mime, f"{self.size:,} bytes") if part)


def for_model(files: Sequence[ReceivedFile]) -> list[str]:
    """One line each. Names were cleaned, so none can end its line and begin another."""
    return [
        f"[received file: {file.path} ({file.kind})]"
        if file.path
        else f"[file not received: {file.name}: {file.problem}]"
        for file in files
    ]


def for_people(files: Sequence[ReceivedFile]) -> str:
    """Where each file was put, as markdown; "" without files."""
    return "\n".join(
        f"Received `{file.path}` ({file.kind})." if file.path else f"Not received: {file.problem}"
        for file in files
    )
