"""A layout as it stands on this machine now: real paths, what is there, and what a walk finds to protect."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from echo_bot.execution.layout import Kind, Mount, SandboxLayout, mounts
from echo_bot.execution.workspace_walk import find_protected
from echo_bot.policy.guards.sensitive_names import is_within


def resolved(layout: SandboxLayout) -> SandboxLayout:
    """Real paths: a mount goes over what is there, and a link there would lead elsewhere."""
    return replace(
        layout,
        workspace=os.path.realpath(layout.workspace),
        hidden=tuple(dict.fromkeys(map(os.path.realpath, layout.hidden))),
        readonly=tuple(dict.fromkeys(map(os.path.realpath, layout.readonly))),
        home=os.path.realpath(layout.home),
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """The mounts of one run, and the entries of the workspace that are protected by them."""

    mounts: tuple[Mount, ...]
    protected: frozenset[str]


def plan_for(layout: SandboxLayout) -> Plan:
    """Asked anew for every run: files come and go."""
    found = find_protected(layout.workspace, layout.home)
    planned = mounts(_existing(layout), found)
    visible = (mount for mount in planned if mount.kind is not Kind.PRIVATE or _is_real_folder(mount.path))
    return Plan(tuple(visible), frozenset(found.noted))


def appeared(layout: SandboxLayout, before: Plan) -> tuple[str, ...]:
    """What would have been protected, had it been there: nothing can be mounted over what does not exist."""
    found = find_protected(layout.workspace, layout.home)
    new = sorted(set(found.noted) - before.protected)
    return tuple(os.path.relpath(path, layout.workspace) for path in new)


def bound_inside(layout: SandboxLayout, plan: tuple[Mount, ...]) -> list[str]:
    """The paths below the workspace that are mounted over themselves."""
    return [
        mount.path
        for mount in plan
        if mount.kind in (Kind.PINNED, Kind.READ_ONLY)
        and is_within(mount.path, layout.workspace)
        and mount.path != layout.workspace
    ]


def _existing(layout: SandboxLayout) -> SandboxLayout:
    return replace(
        layout,
        hidden=tuple(path for path in layout.hidden if os.path.exists(path)),
        readonly=tuple(path for path in layout.readonly if os.path.exists(path)),
    )


def _is_real_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)
