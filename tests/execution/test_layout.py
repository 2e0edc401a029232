"""What the sandbox shows, as values: mounts in order, and what the walk over a workspace finds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from echo_bot.execution.layout import (
    HIDDEN_IN_HOME,
    Found,
    Kind,
    Mount,
    SandboxLayout,
    default_layout,
    is_visible,
    mounts,
)
from echo_bot.execution.workspace_walk import find_protected

LAYOUT = SandboxLayout("/home/a/repo", hidden=("/home/a/.ssh", "/home/a/repo/state"), readonly=("/opt/bot",))


def placed(layout: SandboxLayout, found: Found = Found()) -> dict[str, Kind]:  # noqa: B008 - frozen
    return {mount.path: mount.kind for mount in mounts(layout, found)}


@pytest.mark.parametrize(
    ("layout", "found", "path", "kind"),
    [
        pytest.param(LAYOUT, Found(), "/home/a/repo", Kind.WRITABLE, id="the workspace is writable"),
        pytest.param(LAYOUT, Found(), "/home/a/.ssh", Kind.HIDDEN, id="credentials are hidden"),
        pytest.param(
            LAYOUT, Found(), "/home/a/repo/state", Kind.HIDDEN, id="state in the workspace is hidden"
        ),
        pytest.param(LAYOUT, Found(), "/opt/bot", None, id="read-only outside needs no mount"),
        pytest.param(
            SandboxLayout("/w", hidden=("/data",), readonly=("/data/skills",)),
            Found(),
            "/data/skills",
            Kind.READ_ONLY,
            id="skills are shown inside the hidden state",
        ),
        pytest.param(
            SandboxLayout("/w", readonly=("/tmp/skills",)),
            Found(),
            "/tmp/skills",
            Kind.READ_ONLY,
            id="and inside a private folder",
        ),
        pytest.param(
            SandboxLayout("/w", hidden=("/w/data",)),
            Found(readonly=("/w/data/.env",)),
            "/w/data/.env",
            None,
            id="what a walk finds in hidden state is not",
        ),
        pytest.param(LAYOUT, Found(), "/run", Kind.PRIVATE, id="/run is private"),
        pytest.param(
            LAYOUT,
            Found(readonly=("/home/a/repo/.env",)),
            "/home/a/repo/.env",
            Kind.READ_ONLY,
            id="a persistence file in the workspace is read-only",
        ),
        pytest.param(
            LAYOUT,
            Found(readonly=("/home/a/repo/.git/hooks",), pinned=("/home/a/repo/.git",)),
            "/home/a/repo/.git",
            Kind.PINNED,
            id="a repository is pinned",
        ),
        pytest.param(
            SandboxLayout("/w", hidden=("/w/a/b/state",)),
            Found(),
            "/w/a/b",
            Kind.PINNED,
            id="folders above hidden state are pinned",
        ),
        pytest.param(
            SandboxLayout("/w", hidden=("/w/state",)),
            Found(pinned=("/w/state/.git",), readonly=("/w/state/.env",)),
            "/w/state/.git",
            None,
            id="a repository in hidden state stays hidden",
        ),
        pytest.param(
            SandboxLayout("/srv/bot/work", hidden=("/srv/bot",)),
            Found(),
            "/srv/bot/work",
            Kind.WRITABLE,
            id="a workspace inside hidden state is still there",
        ),
        pytest.param(
            SandboxLayout("/w", hidden=("/w/x",), readonly=("/w/x",)),
            Found(),
            "/w/x",
            Kind.HIDDEN,
            id="hidden wins",
        ),
        pytest.param(
            SandboxLayout("/w", readonly=("/w",)),
            Found(),
            "/w",
            None,
            id="the program stays read-only as a workspace",
        ),
        pytest.param(
            SandboxLayout("/w", hidden=("/tmp/state",)),
            Found(),
            "/tmp/state",
            None,
            id="what /tmp hides is settled",
        ),
        pytest.param(
            SandboxLayout("/tmp/w", readonly=("/tmp/w/p",)),
            Found(),
            "/tmp/w/p",
            Kind.READ_ONLY,
            id="a workspace under /tmp protects as any other",
        ),
        pytest.param(
            SandboxLayout("/w", hidden=("/w/a", "/w/a/b")),
            Found(),
            "/w/a/b",
            None,
            id="hidden in hidden is settled",
        ),
    ],
)
def test_mounts(layout: SandboxLayout, found: Found, path: str, kind: Kind | None) -> None:
    assert placed(layout, found).get(path) is kind


def test_parents_come_before_children() -> None:
    paths = [mount.path for mount in mounts(LAYOUT, Found(pinned=("/home/a/repo/s/.git",)))]
    assert paths == sorted(paths, key=lambda path: path.count("/"))


def test_the_default_layout_hides_all_credential_folders_and_state() -> None:
    layout = default_layout("/w", "/home/a", ["/home/a/.local/share/echo-bot"], ["/opt/echo_bot"])
    assert {f"/home/a/{name}" for name in HIDDEN_IN_HOME} | {"/home/a/.local/share/echo-bot"} <= set(
        layout.hidden
    )
    assert layout.readonly == ("/opt/echo_bot",)


@pytest.mark.parametrize(
    ("path", "visible"),
    [
        ("/w", True),
        ("/w/a", True),
        ("/w/.ssh", False),
        ("/w/.ssh/x", False),
        ("/usr", True),
        ("/tmp", True),
        ("/tmp/x", False),
    ],
)
def test_which_folders_can_be_worked_in(path: str, visible: bool) -> None:
    plan = (Mount("/w", Kind.WRITABLE), Mount("/w/.ssh", Kind.HIDDEN), Mount("/tmp", Kind.PRIVATE))
    assert is_visible(path, plan) is visible


def make(root: Path, *files: str) -> None:
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def relative(root: Path, paths: tuple[str, ...]) -> set[str]:
    return {os.path.relpath(path, root) for path in paths}


def test_the_walk_finds_what_must_be_protected(tmp_path: Path) -> None:
    make(
        tmp_path,
        ".env",
        "a/.env.local",
        "a/.env.example",
        ".bashrc",
        ".vscode/tasks.json",
        ".vscode/notes.md",
    )
    make(tmp_path, ".git/HEAD", ".git/config", ".git/index", "sub/.git", "deep/repo/.git/hooks/x")
    make(
        tmp_path, ".ssh/id", "a/.npmrc", ".config/gcloud/key", ".config/other/x", "src/main.py", ".gitignore"
    )
    make(tmp_path, ".husky/pre-commit", "node_modules/x/.env", "prod.env")
    found = find_protected(str(tmp_path), "/nowhere")
    assert relative(tmp_path, found.hidden) == {".ssh", "a/.npmrc", ".config/gcloud"}
    assert relative(tmp_path, found.pinned) == {".git", "deep/repo/.git"}
    assert relative(tmp_path, found.readonly) == {
        *(".env", "a/.env.local", ".bashrc", ".vscode/tasks.json", ".husky", "prod.env"),
        *(".git/config", ".git/hooks", "sub/.git", "deep/repo/.git/hooks"),
    }


def test_a_home_folder_as_workspace_has_its_own_rules(tmp_path: Path) -> None:
    make(
        tmp_path,
        ".config/systemd/user/x.service",
        ".local/bin/tool",
        "bin/tool",
        "project/bin/tool",
        ".profile",
    )
    found = find_protected(str(tmp_path), str(tmp_path))
    assert relative(tmp_path, found.readonly) == {".config/systemd", ".local/bin", "bin", ".profile"}


def test_links_are_protected_where_they_lead_and_never_followed_out(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    make(tmp_path, "outside", "w/real-env")
    (workspace / ".env").symlink_to("real-env")
    (workspace / ".bashrc").symlink_to("../outside")
    (workspace / ".profile").symlink_to("missing")
    (workspace / "loop").symlink_to(".")
    assert find_protected(str(workspace), "/nowhere").readonly == (str(workspace / "real-env"),)


def test_a_huge_workspace_is_covered_from_the_top(tmp_path: Path) -> None:
    make(tmp_path, ".env", *(f"a/{number}" for number in range(50)), "a/deep/er/.env")
    assert relative(tmp_path, find_protected(str(tmp_path), "/nowhere", max_entries=10).readonly) == {".env"}
