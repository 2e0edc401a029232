"""The path policy as a table: a path, an operation, the kinds that are found."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.policy.decision import Verdict, strictest
from echo_bot.policy.guards.paths import (
    CHECKS,
    FileKind,
    Operation,
    PathRules,
    ResolvedPath,
    ResolveProblem,
    judge_path,
    shown,
)

OPEN = PathRules(
    workspace="/home/me/ws",
    home="/home/me",
    protected=("/home/me/.local/share/bot", "/srv/bot/config.yaml", "/srv/bot/bot.db"),
    protected_write=("/home/me/ws/skills", "/opt/bot/lib", "/home/me/.local/share/bot/skills"),
)
RESTRICTED = replace(OPEN, restrict_to_workspace=True)


def at(real: str, kind: FileKind = "file", *, given: str = "", nlink: int = 1) -> ResolvedPath:
    return ResolvedPath(given or real, given or real, real, kind, nlink)


def kinds(path: ResolvedPath, operation: Operation, rules: PathRules) -> set[str]:
    return {finding.kind for finding in judge_path(path, operation, rules)}


@pytest.mark.parametrize(
    ("real", "operation", "rules", "expected"),
    [
        pytest.param("/home/me/ws/a.py", "write", RESTRICTED, set(), id="a file of the workspace is written"),
        pytest.param("/home/me/ws", "list", RESTRICTED, set(), id="the workspace itself is listed"),
        pytest.param("/srv/x", "read", OPEN, set(), id="unrestricted reads go anywhere"),
        pytest.param("/srv/x", "write", OPEN, set(), id="unrestricted writes go anywhere"),
        pytest.param("/srv/x", "read", RESTRICTED, {"outside_workspace"}, id="restricted reads stay inside"),
        pytest.param("/home/me/ws2/x", "read", RESTRICTED, {"outside_workspace"}, id="prefix is not inside"),
        pytest.param("/proc/1/environ", "read", OPEN, {"special_file"}, id="proc is no file"),
        pytest.param("/dev/null", "write", OPEN, {"special_file"}, id="dev is no file"),
        pytest.param("/run/docker.sock", "read", OPEN, {"special_file"}, id="a socket, there or not"),
        pytest.param("/run/user/1000/bus", "write", OPEN, {"special_file"}, id="nor is the bus"),
        pytest.param("/run/notes.txt", "read", OPEN, set(), id="run has ordinary files too"),
        pytest.param("/home/me/ws/.git::$DATA/x", "write", OPEN, {"sensitive_write"}, id="streams"),
        pytest.param("/sys/x", "list", OPEN, {"special_file"}, id="sys is not listed"),
        pytest.param("/srv/bot/config.yaml", "read", OPEN, {"protected_path"}, id="config is not read"),
        pytest.param("/srv/bot/bot.db-wal", "read", OPEN, {"protected_path"}, id="nor a database's sibling"),
        pytest.param("/srv/bot/bot.db-walk", "read", OPEN, set(), id="a longer name is another file"),
        pytest.param("/srv/bot/BOT.DB", "write", OPEN, {"protected_path"}, id="nor in capitals"),
        pytest.param("/home/me/ws/skills/x.md", "read", OPEN, set(), id="skills are read"),
        pytest.param("/home/me/ws/skills/x.md", "write", OPEN, {"protected_path"}, id="and not written"),
        pytest.param("/home/me/.local/share/bot/x", "read", OPEN, {"protected_path"}, id="state is not read"),
        pytest.param("/home/me/.local/share/bot/skills/x", "read", OPEN, set(), id="but for skills in it"),
        pytest.param("/home/me/.local/share/bot/skills", "list", OPEN, set(), id="and their folder"),
        pytest.param(
            "/home/me/.local/share/bot/skills/x", "write", OPEN, {"protected_path"}, id="still not written"
        ),
        pytest.param(
            "/home/me/.local/share/bot/skills.json", "read", OPEN, {"protected_path"}, id="a longer name is"
        ),
        pytest.param("/opt/bot/lib/x.py", "write", OPEN, {"protected_path"}, id="the program is not written"),
        pytest.param("/home/me/.ssh/id_rsa", "read", OPEN, {"credential_file"}, id="a key is not read"),
        pytest.param("/home/me/.ssh/id_rsa", "list", OPEN, {"credential_file"}, id="nor listed"),
        pytest.param("/home/me/ws/.env", "read", OPEN, {"credential_file"}, id="an env file is not read"),
        pytest.param("/etc/shadow", "write", OPEN, {"sensitive_write"}, id="a password file is not written"),
        pytest.param("/usr/share/x", "write", OPEN, {"sensitive_write"}, id="system folders are not written"),
        pytest.param("/usr/share/x", "read", OPEN, set(), id="system folders are read"),
    ],
)  # fmt: skip
def test_what_is_found(real: str, operation: Operation, rules: PathRules, expected: set[str]) -> None:
    assert kinds(at(real), operation, rules) == expected


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("", "blank"),
        ("  \t", "blank"),
        ("~/x", "~"),
        ("~root/.bashrc", "~"),
        ("$HOME/x", "variable"),
        ("${HOME}/x", "variable"),
        ("%APPDATA%/x", "variable"),
        ("$(pwd)/x", "variable"),
        ("a\u200bb", "U+200B"),
        ("a\u202eb", "U+202E"),
        ("a\x1b[2Jb", "U+001B"),
        ("a\nb", "U+000A"),
        ("a\ud800b", "U+D800"),
        ("..\\..\\x", "notation"),
        ("..\u2044x", "notation"),
        ("%2e%2e/x", "notation"),
        ("%252e%252e%252fx", "notation"),
        ("..;/x", "notation"),
        ("C:\\x", "notation"),
        ("file:///etc/shadow", "address"),
        ("\\\\server\\share", "notation"),
    ],
)
def test_dishonest_text_is_a_bad_path(given: str, problem: str) -> None:
    findings = judge_path(ResolvedPath(given, "/home/me/ws/x", "/home/me/ws/x", "missing"), "read", OPEN)
    assert [finding.kind for finding in findings] == ["bad_path"]
    assert problem in findings[0].sentence
    assert findings[0].sentence.isprintable()


@pytest.mark.parametrize(
    "given",
    [
        "café.txt",
        "नमस्ते.md",
        "routes/$id.tsx",
        "docs/~/y",
        "a~b",
        "100%.txt",
        "%20.txt",
        "a..b",
        "...",
        "x;y",
        "🙂.md",
    ],
)
def test_unusual_but_honest_text_passes(given: str) -> None:
    assert (
        judge_path(ResolvedPath(given, f"/home/me/ws/{given}", "/home/me/ws/x", "missing"), "write", OPEN)
        == ()
    )


@pytest.mark.parametrize("problem", ["nul", "not_text", "too_long", "link_loop", "not_a_folder"])
def test_what_could_not_be_resolved_is_denied(problem: ResolveProblem) -> None:
    path = ResolvedPath("x", "/home/me/ws/x", "/home/me/ws/x", "missing", problem=problem)
    assert kinds(path, "read", OPEN) == {"bad_path"}


@pytest.mark.parametrize("kind", ["fifo", "socket", "device"])
def test_only_regular_files_are_touched(kind: FileKind) -> None:
    assert kinds(at("/home/me/ws/x", kind), "read", OPEN) == {"special_file"}


def test_the_name_as_given_counts_as_well_as_where_it_leads() -> None:
    assert kinds(at("/home/me/ws/plain", given="/dev/stdin"), "read", OPEN) == {"special_file"}
    assert kinds(at("/home/me/ws/plain", given="/home/me/ws/.env"), "read", OPEN) == {"credential_file"}


def test_a_sensitive_write_asks_inside_the_workspace_and_is_denied_outside() -> None:
    inside = judge_path(at("/home/me/ws/.git/hooks/pre-commit"), "write", RESTRICTED)
    outside = judge_path(at("/home/me/.bashrc"), "write", OPEN)
    assert [(f.kind, f.verdict) for f in inside] == [("sensitive_write", Verdict.ASK)]
    assert [(f.kind, f.verdict) for f in outside] == [("sensitive_write", Verdict.DENY)]


def test_a_sensitive_write_is_denied_where_nobody_can_be_asked() -> None:
    findings = judge_path(at("/home/me/ws/.env"), "write", replace(OPEN, unattended=True))
    assert [(f.kind, f.verdict) for f in findings] == [("sensitive_write", Verdict.DENY)]


def test_writes_stay_below_the_safe_write_root_and_reads_do_not() -> None:
    rules = replace(OPEN, safe_write_root="/home/me/ws/out")
    assert kinds(at("/home/me/ws/out/a"), "write", rules) == set()
    assert kinds(at("/home/me/ws/a"), "write", rules) == {"outside_write_root"}
    assert kinds(at("/home/me/ws/outer/a"), "write", rules) == {"outside_write_root"}
    assert kinds(at("/home/me/ws/a"), "read", rules) == set()


def test_a_safe_write_root_in_a_system_folder_is_the_operators_choice() -> None:
    rules = replace(OPEN, safe_write_root="/usr/share/site")
    assert kinds(at("/usr/share/site/index.html"), "write", rules) == set()


def test_hard_links_are_read_and_not_written() -> None:
    assert kinds(at("/home/me/ws/x", nlink=2), "read", OPEN) == set()
    assert kinds(at("/home/me/ws/x", nlink=2), "write", OPEN) == {"hard_link"}
    assert kinds(at("/home/me/ws", "dir", nlink=5), "list", OPEN) == set()


def test_every_reason_is_named() -> None:
    assert kinds(at("/home/other/.ssh/id_rsa"), "read", RESTRICTED) == {
        "credential_file",
        "outside_workspace",
    }


def test_the_order_of_the_checks() -> None:
    assert [check.__name__.strip("_") for check in CHECKS] == [
        "text_is_honest",
        "was_resolved",
        "is_ordinary",
        "is_not_our_state",
        "is_no_credential",
        "is_in_workspace",
        "is_in_write_root",
        "write_is_harmless",
        "has_one_name",
    ]


@given(
    text=st.text(), real=st.text().map(lambda text: "/" + text), operation=st.sampled_from(["read", "list"])
)
def test_reading_and_listing_never_ask(text: str, real: str, operation: Operation) -> None:
    assert strictest(judge_path(ResolvedPath(text, real, real, "file"), operation, OPEN)) is not Verdict.ASK


@given(st.text(max_size=400))
def test_a_shown_path_is_printable_and_short(text: str) -> None:
    assert shown(text).isprintable()
    assert len(shown(text)) <= 200
