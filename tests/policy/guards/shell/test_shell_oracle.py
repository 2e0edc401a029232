"""shfmt as a parser oracle: what it can parse we parse or ask about, and plain words are the same."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from echo_bot.policy.decision import Verdict
from echo_bot.policy.guards.shell import judge_command
from echo_bot.policy.guards.shell.parser import parse
from echo_bot.policy.guards.shell.syntax import ProcessSubstitution, Simple, Substitution
from echo_bot.testing.shfmt_oracle import find_shfmt, plain_commands, shfmt_tree

PROGRAM = find_shfmt()
pytestmark = pytest.mark.skipif(
    PROGRAM is None and not os.environ.get("CI"), reason="shfmt is not installed: pip install shfmt-py"
)
COMMANDS = sorted(
    {
        json.loads(line)["command"]
        for line in (Path(__file__).parents[3] / "data" / "shell.jsonl").read_text("utf-8").split("\n")
        if line.strip()
    }
)
SAMPLE = [command for command in COMMANDS if len(command) < 2000 and "\r" not in command][::3]
"""A carriage return is an ordinary character to bash; shfmt drops it."""


def our_commands(node: object) -> Iterator[tuple[str, ...]]:
    """The words of every simple command outside substitutions, where all of them are plain text."""
    if isinstance(node, (Substitution, ProcessSubstitution)):
        return
    if isinstance(node, Simple):
        words = [word.static for word in node.words]
        if words and all(word is not None for word in words):
            yield tuple(word for word in words if word is not None)
    if isinstance(node, (tuple, list)):
        for child in node:
            yield from our_commands(child)
    elif is_dataclass(node):
        for field in fields(node):
            yield from our_commands(getattr(node, field.name))


def test_shfmt_is_there_where_it_must_be() -> None:
    assert PROGRAM is not None


def test_what_shfmt_parses_is_parsed_or_asked_about() -> None:
    assert PROGRAM is not None
    parsed = 0
    for command in SAMPLE:
        if shfmt_tree(PROGRAM, command) is None:
            continue
        parsed += 1
        report = judge_command(command, cwd="/srv/work", home="/home/user", env={})
        assert report.complete or report.verdict is not Verdict.ALLOW, command
    assert parsed > len(SAMPLE) * 0.8


def test_plain_words_are_the_same() -> None:
    assert PROGRAM is not None
    compared = 0
    for command in SAMPLE:
        tree = shfmt_tree(PROGRAM, command)
        if tree is None:
            continue
        theirs = Counter(plain_commands(tree))
        ours = Counter(our_commands(parse(command)))
        compared += sum(theirs.values())
        assert not theirs - ours, command
    assert compared > 100
