"""search_files: the same answers with ripgrep and without."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.files import FileDoor
from echo_bot.policy.guards.paths import PathRules
from echo_bot.tools.base import ToolResult
from echo_bot.tools.builtin import matching, searching
from echo_bot.tools.builtin.prefilter import files_with, required_literal
from echo_bot.tools.builtin.searching import SearchFilesTool, expanded
from echo_bot.tools.builtin.workspace import Workspace

RIPGREP = shutil.which("rg")
WAYS = [
    None,
    pytest.param(RIPGREP, marks=pytest.mark.skipif(RIPGREP is None, reason="ripgrep is not installed")),
]


@pytest.fixture(name="tool", params=WAYS, ids=["without ripgrep", "with ripgrep"])
def _tool(request: pytest.FixtureRequest, tmp_path: Path) -> SearchFilesTool:
    root = tmp_path.resolve()
    for name, content in {
        "a.py": "def alpha():\n    return 'needle'\n",
        "src/b.ts": "const needle = 1\r\nconst other = 2\r\n",
        "src/deep/c.py": "needle needle\nNEEDLE\n",
        "notes.md": "bytes\nneedle at the end",
        ".hidden": "needle\n",
        ".gitignore": "ignored/\n",
        "ignored/d.py": "needle\n",
        ".env": "needle\n",
        "-e": "needle\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, newline="")
    (root / "binary").write_bytes(b"needle\0")
    (root / "latin").write_bytes(b"\xff needle \xe9\n")
    (root / "utf16bom").write_bytes(b"\xff\xfeneedle\n")
    (root / "link").symlink_to("a.py")
    door = FileDoor(PathRules(workspace=str(root), restrict_to_workspace=True, home="/nobody"))
    return SearchFilesTool(Workspace(str(root), lambda ctx: door), request.param)


async def search(tool: SearchFilesTool, pattern: str, **more: object) -> ToolResult:
    return await tool.execute({"pattern": pattern, **more})


LEFT_OUT = "(1 left out: outside what the path policy lets be seen)"


async def test_lines_are_found_with_their_place(tool: SearchFilesTool) -> None:
    result = await search(tool, "needle")
    assert result.output.split("\n") == [
        "-e:1: needle",
        ".hidden:1: needle",
        "a.py:2:     return 'needle'",
        "latin:1: \ufffd needle \ufffd",
        "notes.md:2: needle at the end",
        "utf16bom:1: \ufffd\ufffdneedle",
        "src/b.ts:1: const needle = 1",
        "src/deep/c.py:1: needle needle",
        LEFT_OUT,
    ]


@pytest.mark.parametrize(
    ("pattern", "places"),
    [
        (r"^const needle = \d$", ["src/b.ts:1"]),
        (r"def \w+\(", ["a.py:1"]),
        (r"(?i)^needle$", ["-e:1", ".hidden:1", "src/deep/c.py:2"]),
        (r"other|alpha", ["a.py:1", "src/b.ts:2"]),
        (r"nee+dle at", ["notes.md:2"]),
        (r"needle(?= needle)", ["src/deep/c.py:1"]),
        (r"nothing of this", []),
    ],
)
async def test_regular_expressions_are_pythons(
    tool: SearchFilesTool, pattern: str, places: list[str]
) -> None:
    result = await search(tool, pattern)
    lines = [line for line in result.output.split("\n") if line != LEFT_OUT]
    assert [":".join(line.split(":")[:2]) for line in lines if line] == places


async def test_a_path_narrows_the_search_and_may_be_a_file(tool: SearchFilesTool) -> None:
    assert (await search(tool, "needle", path="src/deep")).output == "src/deep/c.py:1: needle needle"
    assert (await search(tool, "needle", path="src/b.ts")).output == "src/b.ts:1: const needle = 1"
    assert (await search(tool, "needle", path="ignored")).output == "ignored/d.py:1: needle"


async def test_results_stop_at_the_number_asked_for(tool: SearchFilesTool) -> None:
    result = await search(tool, "needle", max_results=2)
    assert result.output.startswith("-e:1: needle\n.hidden:1: needle\n")
    assert "(the first 2 matches; narrow the pattern or the path for the others)" in result.output


@pytest.mark.parametrize(
    ("glob", "paths"),
    [
        ("*.py", ["a.py", "src/deep/c.py"]),
        ("*.{py,ts}", ["a.py", "src/b.ts", "src/deep/c.py"]),
        ("src/**/*.py", ["src/deep/c.py"]),
        ("/*.py", ["a.py"]),
        ("src", ["src/b.ts", "src/deep/c.py"]),
        ("!x", []),
    ],
)
async def test_names_are_found_by_glob(tool: SearchFilesTool, glob: str, paths: list[str]) -> None:
    result = await search(tool, glob, mode="glob")
    assert [line for line in result.output.split("\n") if not line.startswith("(")] == paths


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        ({"pattern": "("}, "validation", "not a regular expression"),
        ({"pattern": ""}, "validation", "non-empty"),
        ({"pattern": "a\nb"}, "validation", "never span lines"),
        ({"pattern": "x", "path": "none"}, "validation", "does not exist"),
        ({"pattern": "x", "path": "/etc"}, "denied", "outside the workspace"),
        ({"pattern": "*a*a*a*a*a*a*", "mode": "glob"}, "validation", "too many wildcards"),
    ],
)
async def test_bad_searches_are_refused(
    tool: SearchFilesTool, arguments: dict[str, object], kind: str, said: str
) -> None:
    result = await tool.execute(arguments)
    assert (result.success, result.error_kind) == (False, kind)
    assert said in result.error


async def test_a_pattern_that_never_ends_is_stopped(
    tool: SearchFilesTool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "SECONDS", 0.5)
    (tmp_path / "evil.txt").write_text("a" * 60 + "!")
    before = time.monotonic()
    result = await search(tool, "^(a+)+$")
    assert "takes too long" in result.error
    assert time.monotonic() - before < 10


async def test_files_too_big_are_counted(
    tool: SearchFilesTool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "MAX_FILE_BYTES", 1024)
    (tmp_path / "big.txt").write_text("no such word\n" * 1000)
    result = await search(tool, "need(le)")
    assert "(1 files over 0 MiB were not searched)" in result.output


@pytest.mark.parametrize(
    ("pattern", "literal"),
    [
        ("needle", "needle"),
        (r"def \w+\(", "def "),
        ("abc*def", "def"),
        ("abcd?", "abc"),
        ("(abc)?def", "def"),
        ("abc|def", ""),
        ("(?i)abc", ""),
        ("[abc]{2}xyz", "xyz"),
        ("[]abc]xyz", "xyz"),
        (r"\x41bcd", ""),
        (r"a\.bcd", "bcd"),
        ("ab", ""),
        ("abc{0}def", "def"),
        ("[unclosed", ""),
    ],
)
def test_the_text_every_match_contains(pattern: str, literal: str) -> None:
    assert required_literal(pattern) == literal


@given(
    st.text(alphabet="abc de\\wd.*+?{}()[]^$|01,-", max_size=14),
    st.text(alphabet="abcde 01\\{}-", max_size=30),
)
def test_no_match_is_without_it(pattern: str, text: str) -> None:
    try:
        expression = re.compile(pattern)
    except (re.error, FutureWarning, DeprecationWarning):
        return
    found = expression.search(text)
    if found:
        assert required_literal(pattern) in found[0]


def test_a_sieve_that_fails_lets_everything_through(tmp_path: Path) -> None:
    assert files_with(str(tmp_path / "no-such-program"), "x", ["/a", "/b"], 1) == {"/a", "/b"}


def test_braces_are_written_out() -> None:
    assert sorted(expanded("{a,b}.{c,d}")) == ["a.c", "a.d", "b.c", "b.d"]
    assert expanded("a{b}c") == ["a{b}c"]
    assert len(expanded("{a,b}" * 20)) <= 120


def test_a_killed_child_is_an_answer_and_leaves_no_process() -> None:
    with pytest.raises(matching.PatternError), matching.matcher("(a+)+$", 5, 0.3) as lines_in:
        lines_in.lines(b"a" * 60 + b"!")
