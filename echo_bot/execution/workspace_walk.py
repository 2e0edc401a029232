"""A bounded walk over the workspace for the files the sandbox must hide or keep from being written."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator

from echo_bot.execution.layout import HIDDEN_IN_HOME, Found
from echo_bot.policy.guards.sensitive_names import fold, is_within, matching_rule

MAX_ENTRIES = 20_000
MAX_DEPTH = 8

GIT_PROTECTED = ("config", "config.worktree", "hooks", "modules")
"""The parts of a repository that make git run something; the rest must stay writable for a commit."""

_SKIPPED = frozenset(
    {"node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache", ".cache", "target"}
)
_HIDDEN_NAMES = frozenset(name for name in HIDDEN_IN_HOME if "/" not in name)
_HIDDEN_PAIRS = frozenset(tuple(name.split("/")) for name in HIDDEN_IN_HOME if "/" in name)
_ENDINGS = (
    ".env",
    ".pth",
    ".code-workspace",
    "customize.py",
    "mcp.json",
    "mise.toml",
    "lefthook.yml",
    "lefthook.yaml",
)
"""How persistence files end that neither start with a dot nor lie in such a folder; the rules then decide."""


def find_protected(workspace: str, home: str, *, max_entries: int = MAX_ENTRIES) -> Found:
    """Breadth first, so that of a huge workspace at least the upper levels are covered. Follows no links."""
    walk = _Walk(workspace, home)
    walk.run(max_entries)
    return Found(tuple(walk.hidden), tuple(walk.readonly), tuple(walk.pinned), tuple(walk.noted))


class _Walk:
    def __init__(self, workspace: str, home: str) -> None:
        self._workspace, self._home, self._folded_home = workspace, home, fold(home)
        self.hidden: list[str] = []
        self.readonly: list[str] = []
        self.pinned: list[str] = []
        self.noted: list[str] = []

    def run(self, max_entries: int) -> None:
        folders = deque([(self._workspace, 0)])
        seen = 0
        while folders and seen < max_entries:
            folder, depth = folders.popleft()
            for entry in _entries(folder):
                seen += 1
                is_folder = entry.is_dir(follow_symlinks=False)
                if self._is_settled(entry, folder, is_folder) or not is_folder:
                    continue
                if depth < MAX_DEPTH and entry.name not in _SKIPPED:
                    folders.append((entry.path, depth + 1))

    def _is_settled(self, entry: os.DirEntry[str], folder: str, is_folder: bool) -> bool:
        """Note the entry where it needs a mount of its own. True: what is below needs no look."""
        name, parent = entry.name, os.path.basename(folder)
        if name in _HIDDEN_NAMES or (parent, name) in _HIDDEN_PAIRS:
            self.hidden.extend(self._mountable(entry.path))
        elif name == ".git" and is_folder:
            self.pinned.append(entry.path)
            self.readonly.extend(_git_parts(entry.path))
        elif self._is_candidate(name, parent, folder) and self._is_persistent(entry.path, is_folder):
            self.readonly.extend(self._mountable(entry.path))
        else:
            return False
        self.noted.append(entry.path)
        return True

    def _is_candidate(self, name: str, parent: str, folder: str) -> bool:
        return (
            name.startswith(".")
            or parent.startswith(".")
            or folder == self._home
            or name.casefold().endswith(_ENDINGS)
        )

    def _is_persistent(self, path: str, is_folder: bool) -> bool:
        """The path policy's own rules; of a folder they are asked about anything in it."""
        asked = fold(f"{path}/any" if is_folder else path)
        return matching_rule(asked, self._folded_home, for_reading=False) is not None

    def _mountable(self, path: str) -> list[str]:
        """What a link leads to is mounted over, when it is in the workspace: the link itself cannot be."""
        real = os.path.realpath(path)
        is_inside = is_within(real, self._workspace) and real != self._workspace
        return [real] if is_inside and os.path.exists(real) else []


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return


def _git_parts(git: str) -> Iterator[str]:
    """A missing hooks folder is made, empty: otherwise a command could make it, with hooks in it."""
    if os.path.isfile(os.path.join(git, "HEAD")):
        try:
            os.makedirs(os.path.join(git, "hooks"), exist_ok=True)
        except OSError:
            pass
    for name in GIT_PROTECTED:
        path = os.path.join(git, name)
        if os.path.exists(path) and not os.path.islink(path):
            yield path
