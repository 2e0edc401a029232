"""The strictest finding wins: in a list, in a command of several, in any order."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from echo_bot.policy.decision import Finding, Verdict, strictest
from echo_bot.policy.guards.shell import judge_command

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "shell.jsonl").read_text("utf-8").split("\n")
    if line.strip()
]
HARMLESS = [
    row["command"]
    for row in ROWS
    if row["expect"] == "allow" and row["kind"] == "benign" and len(row["command"]) < 60
]
OTHERS = [row["command"] for row in ROWS if row["expect"] != "allow" and len(row["command"]) < 300]
FINDINGS = st.lists(st.sampled_from(Verdict).map(lambda verdict: Finding("kind", verdict, "Why.", "field")))


def verdict(command: str) -> Verdict:
    return judge_command(command, cwd="/srv/work/project", home="/home/user", env={}).verdict


@given(FINDINGS)
def test_the_strictest_of_a_list_wins_in_any_order(findings: list[Finding]) -> None:
    expected = max(
        (each.verdict for each in findings), key=lambda each: each.strictness, default=Verdict.ALLOW
    )
    assert strictest(findings) is strictest(findings[::-1]) is expected


def test_a_harmless_command_before_another_lowers_nothing() -> None:
    lowered = [
        (before, command)
        for before, command in zip(HARMLESS * len(OTHERS), OTHERS, strict=False)
        if verdict(f"{before}\n{command}").strictness < verdict(command).strictness
    ]
    assert lowered == []


def test_two_commands_are_judged_as_strictly_as_the_stricter() -> None:
    lowered = [
        (first, second)
        for first, second in pairwise(OTHERS[::3])
        if verdict(f"{first}\n{second}").strictness < verdict(first).strictness
    ]
    assert lowered == []
