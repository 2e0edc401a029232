"""What the opener gives back. A refusal is a value with a sentence that says what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from echo_bot.policy.decision import Finding
from echo_bot.policy.guards.paths import Operation, ResolvedPath

RefusalKind = Literal[
    "denied",
    "not_found",
    "is_folder",
    "not_a_folder",
    "no_permission",
    "changed",
    "exists",
    "too_big",
    "failed",
]


@dataclass(frozen=True, slots=True)
class FileRefusal:
    """Why nothing was opened or changed. Only "denied" is the policy's word and carries findings."""

    kind: RefusalKind
    sentence: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Admitted:
    """A path that the policy passed for one operation, not yet opened."""

    path: ResolvedPath
    operation: Operation


@dataclass(frozen=True, slots=True)
class FileContent:
    """A regular file's bytes, and the identity of exactly these bytes."""

    path: ResolvedPath
    data: bytes
    identity: str


@dataclass(frozen=True, slots=True)
class Written:
    """A finished write or removal. `made_folders` are those it created, outermost first."""

    path: ResolvedPath
    made_folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder. For a link, `path` is what it leads to; `size` in bytes for files."""

    name: str
    path: ResolvedPath
    size: int = 0
    is_link: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """A folder's entries by name, folders and files alike; `left_out` counts those the policy keeps back."""

    folder: ResolvedPath
    entries: tuple[Entry, ...]
    left_out: int = 0
