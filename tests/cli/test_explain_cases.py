"""`explain --cases`: the gate's truth tables, and lines that cannot be understood.

The files hold cases with what is expected of them; in `gate_rules.jsonl` the id is the sentence that the row
proves, `gate_unseen.jsonl` is the documents' tables written out by somebody who had not seen the code.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from echo_bot.cli import echo_bot
from echo_bot.cli.explaining import explain_cases
from echo_bot.policy.schemas import MAX_COMMAND_BYTES

DATA = Path(__file__).parents[1] / "data"
ANSWERS = {"expect", "why", "group"}


def rows_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


ROWS = rows_of("gate.jsonl") + rows_of("gate_rules.jsonl") + rows_of("gate_unseen.jsonl")


def judged(row: dict[str, Any]) -> dict[str, Any]:
    asked = {key: value for key, value in row.items() if key not in ANSWERS}
    (answer,) = explain_cases([json.dumps(asked)])
    return answer


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_the_gate_decides(row: dict[str, Any]) -> None:
    answer, expect = judged(row), row["expect"]
    steps = expect["step"] if isinstance(expect["step"], list) else [expect["step"]]
    assert (answer["verdict"], answer["step"] in steps) == (expect["verdict"], True), answer
    if "risk" in expect:
        assert answer["risk"] == expect["risk"]
    assert answer["approval_source"] == ("auto" if expect["verdict"] == "allow" else None)
    if answer["step"] in ("context", "unknown_tool", "filtered", "invalid"):
        assert answer["risk"] is None


@pytest.mark.parametrize("tool", ["exec", "process"])
@pytest.mark.parametrize(
    ("command", "is_valid"),
    [
        ("echo " + "x" * (MAX_COMMAND_BYTES - 5), True),
        ("x" * (MAX_COMMAND_BYTES + 1), False),
        ("é" * (MAX_COMMAND_BYTES // 2 + 1), False),
    ],
    ids=["the most", "a byte too many", "bytes are counted, not characters"],
)
def test_a_command_has_a_longest_length(tool: str, command: str, is_valid: bool) -> None:
    args = {"command": command} if tool == "exec" else {"action": "start", "command": command}
    answer = judged({"id": 1, "event": {"channel": "telegram"}, "call": {"tool": tool, "args": args}})
    assert (answer["step"] != "invalid") is is_valid


MALFORMED = {
    "no JSON": "{",
    "no object": "[]",
    "no call": '{"id": "a"}',
    "a call without a tool": '{"id": "a", "call": {}}',
    "a tool that is no text": '{"id": "a", "call": {"tool": 5, "args": {}}}',
    "a configuration that is no object": '{"id": "a", "config": [], "call": {"tool": "x"}}',
    "a configuration with a wrong value": (
        '{"id": "a", "config": {"tools.profile": "x"}, "call": {"tool": "x"}}'
    ),
    "a configuration with a key through a value": (
        '{"id": "a", "config": {"workspace": "/tmp", "workspace.x": 1}, "call": {"tool": "x"}}'
    ),
    "an event that is no object": '{"id": "a", "event": "cli", "call": {"tool": "x"}}',
    "grants that are no list": '{"id": "a", "grants": {}, "call": {"tool": "x"}}',
    "capabilities that are no texts": '{"id": "a", "capabilities": [1], "call": {"tool": "x"}}',
    "a smart answer that is no text": '{"id": "a", "smart": 1, "call": {"tool": "x"}}',
    "an executor that is none": '{"id": "a", "executor": "moon", "call": {"tool": "x"}}',
    "a number too deep": '{"id": "a", "call": {"tool": "exec", "args": '
    + "[" * 100_000
    + "]" * 100_000
    + "}}",
}


@pytest.mark.parametrize("line", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_line_is_denied_and_the_next_is_judged(line: str) -> None:
    good = '{"id": "b", "call": {"tool": "skills_list", "args": {}}}'
    first, second = explain_cases([line, "\n", good])
    assert (first["verdict"], first["step"], first["approval_source"]) == ("deny", "context", None)
    assert (second["id"], second["verdict"]) == ("b", "allow")


def test_the_command_prints_one_line_for_each_case(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text('{"id": "a", "call": {"tool": "skills_list", "args": {}}}\n{"id": "b"\n')
    result = CliRunner().invoke(echo_bot, ["explain", "--cases", str(file)])
    assert result.exit_code == 0
    first, second = map(json.loads, result.stdout.splitlines())
    assert first == {
        "id": "a",
        "verdict": "allow",
        "step": "risk_tier",
        "risk": "read_only",
        "approval_source": "auto",
        "reason": "only reads",
    }
    assert (second["id"], second["verdict"], second["step"]) == ("b", "deny", "context")
