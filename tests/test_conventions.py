"""Rules of the code base that no linter knows: each is a property of the source, read from the source."""

from __future__ import annotations

import ast
import re
import tokenize
from functools import cache
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted([*ROOT.glob("echo_bot/**/*.py"), *ROOT.glob("channels/**/*.py")])


@cache
def source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(source(path))


def starts_with_a_docstring(path: Path) -> bool:
    """Told from the first token: to parse everything for that takes seconds."""
    tokens = tokenize.generate_tokens(StringIO(source(path)).readline)
    between = {tokenize.COMMENT, tokenize.NL}
    return next(token for token in tokens if token.type not in between).type == tokenize.STRING


def name_of(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""


def test_a_human_approval_is_created_in_one_place() -> None:
    places = [
        path.relative_to(ROOT).as_posix()
        for path in SOURCES
        if "ApprovalSource" in source(path)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and name_of(node) == "ApprovalSource.HUMAN"
    ]
    assert [p for p in places if p != "echo_bot/policy/decision.py"] == ["echo_bot/approval/answers.py"]
    built = [p for p in SOURCES if re.search(r"ApprovalSource\(", source(p)) and p.name != "decision.py"]
    assert not built


def test_adapters_cannot_set_trust_because_they_only_use_the_factory() -> None:
    forbidden = {"InboundEvent", "replace", "dataclasses.replace", "copy.replace", "object.__setattr__"}
    for path in (p for p in SOURCES if p.is_relative_to(ROOT / "channels")):
        calls = [name_of(n.func) for n in ast.walk(tree(path)) if isinstance(n, ast.Call)]
        events = "InboundEvent" in source(path)
        used = {c for c in calls if c in forbidden and (events or c == "InboundEvent")}
        assert not used, f"{path}: {used}"


def test_the_only_dynamic_imports_are_the_known_ones() -> None:
    wanted = re.compile(
        r"import_module\(|__import__\(|spec_from_file_location\(|entry_points\(|\bexec\(|\beval\("
    )
    found = {p.relative_to(ROOT).as_posix() for p in SOURCES if wanted.search(source(p))}
    assert found <= {"echo_bot/app/discovery.py", "echo_bot/cli/__init__.py"}


def test_metadata_of_an_event_is_read_by_no_policy() -> None:
    for part in ("policy", "approval", "inbox", "tools", "agent"):
        for path in ROOT.glob(f"echo_bot/{part}/**/*.py"):
            assert "event.metadata" not in source(path), path


def test_files_hold_one_idea() -> None:
    too_long = {
        p.relative_to(ROOT).as_posix(): n for p in SOURCES if (n := len(source(p).splitlines())) > 400
    }
    assert not too_long


def test_every_module_says_its_idea_first() -> None:
    missing = [p.relative_to(ROOT).as_posix() for p in SOURCES if not starts_with_a_docstring(p)]
    assert not missing


@pytest.mark.parametrize("name", ["run", "tests"])
def test_the_readme_marks_its_two_commands(name: str) -> None:
    text = (ROOT / "README.md").read_text()
    found = re.search(rf"<!-- {name} -->\n```sh\n(.+?)\n```", text, re.DOTALL)
    assert found is not None
    assert found.group(1).startswith("python3 -m venv .venv && .venv/bin/pip install")


def test_the_readme_names_only_verbs_that_exist() -> None:
    from echo_bot.cli import VERBS

    named = set(re.findall(r"echo-bot ([a-z]+)", (ROOT / "README.md").read_text()))
    assert named - {"run"} <= set(VERBS)


def test_the_readme_lists_every_verb_with_its_parts() -> None:
    from click import Context, Group

    from echo_bot.cli import VERBS, echo_bot

    section = (ROOT / "README.md").read_text().partition("\n## Commands\n")[2].partition("\nIn a chat:")[0]
    listed = {
        verb.removeprefix("echo-bot ").partition(" ")[0]: set(
            verb.removeprefix("echo-bot ").split(" ")[-1].split("|")
        )
        for verb in re.findall(r"`([^`]+)`", section)
    }
    for verb in VERBS:
        found = echo_bot.get_command(Context(echo_bot), verb)
        assert listed.get(verb) == (set(found.commands) if isinstance(found, Group) else {verb})


def test_the_constraints_name_no_registry() -> None:
    assert "://" not in (ROOT / "constraints.txt").read_text()
