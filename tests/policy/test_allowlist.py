"""The operator's allowlist: words against globs, fields against patterns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.policy.allowlist import PRESETS, allows
from echo_bot.policy.guards.shell.report import ShellReport, SimpleCommand
from echo_bot.policy.settings import AllowEntry


def report(*commands: tuple[str | None, ...], plain: bool = True, complete: bool = True) -> ShellReport:
    made = tuple(SimpleCommand(words, " ".join(word or "?" for word in words), plain) for words in commands)
    return ShellReport(commands=made, complete=complete)


def entry(command: str, **more: str) -> AllowEntry:
    return AllowEntry("exec", {"command": command, **more})


def passes(pattern: str, *words: str | None) -> bool:
    return allows([entry(pattern)], "exec", {"command": "…"}, report(words))


@pytest.mark.parametrize(
    ("pattern", "words", "expected"),
    [
        ("make *", ("make", "build"), True),
        ("make *", ("make",), False),
        ("make *", ("make", "a", "b"), False),
        ("make **", ("make",), True),
        ("make **", ("make", "a", "b"), True),
        ("make ** x", ("make", "a", "x"), True),
        ("make ** x", ("make", "a", "b", "x"), False),
        ("**", ("anything", "at", "all"), False),
        ("git commit -m *", ("git", "commit", "-m", "two words"), True),
        ("git log '*.py'", ("git", "log", "a.py"), True),
        ("make", ("MAKE",), False),
        ("make 'open", ("make", "open"), False),
        ("", ("make",), False),
        ("make [ab]", ("make", "a"), True),
        ("ls ?", ("ls", "-"), True),
    ],
)
def test_words(pattern: str, words: tuple[str, ...], expected: bool) -> None:
    assert passes(pattern, *words) is expected


def test_an_unknown_word_never_matches() -> None:
    assert not passes("make *", "make", None)


def test_a_command_with_a_redirection_never_matches() -> None:
    assert not allows([entry("ls **")], "exec", {"command": "ls"}, report(("ls",), plain=False))


def test_what_was_not_parsed_never_matches() -> None:
    assert not allows([entry("ls **")], "exec", {"command": "ls"}, report(("ls",), complete=False))
    assert not allows([entry("ls **")], "exec", {"command": "ls"}, report())
    assert not allows([entry("ls **")], "exec", {"command": "ls"}, None)


def test_each_command_may_match_another_entry() -> None:
    both = [entry("ls"), entry("wc *")]
    assert allows(both, "exec", {"command": "…"}, report(("ls",), ("wc", "-l")))
    assert not allows(both[:1], "exec", {"command": "…"}, report(("ls",), ("wc", "-l")))


def test_entries_with_other_fields_do_not_mix() -> None:
    mixed = [entry("ls"), entry("wc *", cwd="*")]
    assert not allows(mixed, "exec", {"command": "…"}, report(("ls",), ("wc", "-l")))


WRITERS = [
    "rm",
    "sort",
    "find",
    "sed",
    "tee",
    "sh",
    "bash",
    "env",
    "xargs",
    "rg",
    "tree",
    "uniq",
    "curl",
    "python3",
]


@pytest.mark.parametrize("program", WRITERS)
def test_the_preset_names_no_program_that_may_write_or_run(program: str) -> None:
    for line in PRESETS["read_only_shell"]:
        assert line.args["command"].split()[0] != program


def test_the_preset_lets_no_option_of_git_through() -> None:
    preset = PRESETS["read_only_shell"]
    assert not allows(preset, "exec", {"command": "…"}, report(("git", "diff", "--output=x")))
    assert not allows(preset, "exec", {"command": "…"}, report(("git", "-c", "core.pager=x", "log")))


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=6), min_size=1, max_size=5))
def test_stars_alone_match_exactly_their_number_of_words(words: list[str]) -> None:
    stars = ["*"] * len(words)
    assert passes(" ".join(stars), *words)
    assert not passes(" ".join([*stars, "*"]), *words)
