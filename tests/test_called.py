from __future__ import annotations

import sys

import pytest

from echo_bot.called import command


@pytest.mark.parametrize(
    ("program", "on_path", "line"),
    [
        (".venv/bin/echo-bot", False, ".venv/bin/echo-bot login"),
        (".venv/bin/echo-agent", False, ".venv/bin/echo-agent login"),
        ("/my tools/echo-bot", False, "'/my tools/echo-bot' login"),
        ("/lib/echo_bot/__main__.py", False, f"{sys.executable} -m echo_bot login"),
        (".venv/bin/echo-bot", True, "echo-bot login"),
        ("pytest", False, "echo-bot login"),
        ("", False, "echo-bot login"),
    ],
    ids=[
        "as it was called where PATH has no echo-bot",
        "its other name too",
        "quoted for a shell",
        "as a module",
        "the short name where PATH has it",
        "another program is none of its names",
        "a program without a name",
    ],
)
def test_the_command_is_named(program: str, on_path: bool, line: str) -> None:
    found = command("login", argv=[program], which=lambda name: f"/bin/{name}" if on_path else None)
    assert found == line


def test_without_a_verb_it_is_the_command_alone() -> None:
    assert command(argv=[], which=lambda _: None) == "echo-bot"
