"""What the sandbox shows: one value from the composition root, and the ordered mounts that follow from it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from echo_bot.policy.guards.sensitive_names import is_within

HIDDEN_IN_HOME = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
)
"""Credential files and folders: absent in the sandbox, in the home folder and anywhere in the workspace."""

HIDDEN_ON_SYSTEM = (
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/var/lib/lxd",
    "/var/lib/incus",
    "/var/snap/lxd",
)
"""Readable by root without capabilities, or sockets that give root: read-only does not stop a connection."""

PRIVATE_FOLDERS = ("/tmp", "/var/tmp", "/run", "/var/run", "/dev/shm")
"""Empty and private in the sandbox. /run holds the sockets of the host's daemons."""


class Kind(StrEnum):
    """PINNED is as writable as what is around it, but cannot be renamed with what it holds."""

    PRIVATE = "private"
    WRITABLE = "writable"
    PINNED = "pinned"
    READ_ONLY = "read_only"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class Mount:
    path: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class SandboxLayout:
    """What a sandboxed command sees besides the system, all absolute.

    `workspace` is writable; `hidden` (bot state, credentials) is absent, also where it lies inside the
    workspace; `readonly` (the bot's program, skills) cannot be written either, and is shown also inside what
    is hidden; all else is read-only.
    """

    workspace: str
    hidden: tuple[str, ...] = ()
    readonly: tuple[str, ...] = ()
    home: str = "/"


@dataclass(frozen=True, slots=True)
class Found:
    """What a walk over the workspace found, as absolute paths. `pinned` folders must not be renamed.

    `noted` are the entries themselves, links included, for whose sake the others are there.
    """

    hidden: tuple[str, ...] = ()
    readonly: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()


def default_layout(workspace: str, home: str, state: Iterable[str], program: Iterable[str]) -> SandboxLayout:
    """The layout of a normal start: `state` and the credential folders hidden, `program` read-only."""
    return SandboxLayout(
        workspace=workspace,
        hidden=(*state, *(os.path.join(home, name) for name in HIDDEN_IN_HOME), *HIDDEN_ON_SYSTEM),
        readonly=tuple(program),
        home=home,
    )


def mounts(layout: SandboxLayout, found: Found) -> tuple[Mount, ...]:
    """Parents before children; of two for one path the stricter. What a parent settles is left out.

    Folders between the workspace and a protected path in it are pinned: renamed, they would unprotect it.
    """
    wanted: dict[str, Kind] = {}
    for kind, paths in (
        (Kind.PRIVATE, PRIVATE_FOLDERS),
        (Kind.PINNED, (*found.pinned, *_between(layout.workspace, (*layout.hidden, *layout.readonly)))),
        (Kind.WRITABLE, (layout.workspace,)),
        (Kind.READ_ONLY, (*layout.readonly, *found.readonly)),
        (Kind.HIDDEN, (*layout.hidden, *found.hidden)),
    ):
        wanted.update((path, kind) for path in paths)
    placed: dict[str, Kind] = {}
    shown = frozenset(layout.readonly)
    for path in sorted(wanted, key=lambda path: (path.count("/"), path)):
        kind, around = wanted[path], _around(placed, path)
        is_shown_inside = kind is Kind.READ_ONLY and path in shown and around in (Kind.HIDDEN, Kind.PRIVATE)
        if is_shown_inside or _changes_anything(kind, around):
            placed[path] = wanted[path]
    return tuple(Mount(path, kind) for path, kind in placed.items())


def is_visible(path: str, plan: Iterable[Mount]) -> bool:
    """Can a sandboxed command be in this folder? Not where its nearest mount hides or empties it."""
    nearest = max((m for m in plan if is_within(path, m.path)), key=lambda m: len(m.path), default=None)
    if nearest is None or nearest.kind not in (Kind.HIDDEN, Kind.PRIVATE):
        return True
    return nearest.kind is Kind.PRIVATE and path == nearest.path


def _changes_anything(kind: Kind, around: Kind | None) -> bool:
    """`around` is the kind of the nearest mount above; None stands for the read-only system."""
    match kind:
        case Kind.WRITABLE:
            return True
        case Kind.READ_ONLY | Kind.PINNED:
            return around in (Kind.WRITABLE, Kind.PINNED)
        case Kind.HIDDEN | Kind.PRIVATE:
            return around not in (Kind.PRIVATE, Kind.HIDDEN)


def _around(placed: dict[str, Kind], path: str) -> Kind | None:
    return next((placed[above] for above in _parents(path) if above in placed), None)


def _between(folder: str, paths: Iterable[str]) -> list[str]:
    """The folders below `folder` and above each of the paths in it."""
    return [
        above for path in paths for above in _parents(path) if above != folder and is_within(above, folder)
    ]


def _parents(path: str) -> Iterator[str]:
    while path not in ("/", ""):
        path = os.path.dirname(path)
        yield path
