"""The shell guard against labelled cases of two authors and the project's own variants of every kind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from echo_bot.policy.guards.shell import ShellReport, judge_command

FOLDER = Path(__file__).parents[3] / "data"
CORPORA = ("shell.jsonl", "shell_unseen.jsonl", "shell_fresh.jsonl")
VARIANTS = Path(__file__).parent / "variants.txt"
ESCAPES = {"n": "\n", "t": "\t", "\\": "\\"}


def judge(command: str) -> ShellReport:
    return judge_command(command, cwd="/srv/projects/echo/workspace", home="/home/user", env={})


def variants() -> Iterator[tuple[str, str]]:
    for line in VARIANTS.read_text().splitlines():
        if line and not line.startswith("#"):
            expected, _, command = line.partition(" ")
            yield expected, re.sub(r"\\([nt\\])", lambda found: ESCAPES[found.group(1)], command)


def rows(corpus: str) -> list[dict[str, str]]:
    found = [json.loads(line) for line in (FOLDER / corpus).read_text().splitlines()]
    return [row for row in found if not row["why"].startswith("[debatable]")]


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("expect", ["deny", "ask", "allow"])
def test_every_labelled_case_gets_its_verdict(expect: str, corpus: str) -> None:
    got = {row["id"]: judge(row["command"]).verdict.value for row in rows(corpus) if row["expect"] == expect}
    assert {name: verdict for name, verdict in got.items() if verdict != expect} == {}


@pytest.mark.parametrize("expect", ["deny", "ask", "allow"])
def test_every_own_variant_gets_its_verdict(expect: str) -> None:
    wrong = [
        (command, judge(command).verdict.value)
        for expected, command in variants()
        if expected == expect and judge(command).verdict.value != expect
    ]
    assert wrong == []


def test_a_finding_carries_the_kind_the_case_is_labelled_with() -> None:
    missing = [
        (row["id"], row["kind"])
        for row in rows("shell.jsonl")
        if row["kind"] != "benign" and row["kind"] not in {f.kind for f in judge(row["command"]).findings}
    ]
    assert len(missing) <= 8, missing
