"""`echo-bot guard`: one line a row, in order, whatever a row holds."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from echo_bot.cli.guard import KINDS, guard

SAMPLES: dict[str, dict[str, object]] = {
    "shell": {"command": "ls -la"},
    "net": {"url": "http://127.0.0.1/", "resolves_to": None},
    "path": {"op": "read", "path": "a.txt", "cwd": "{tmp}/ws", "workspace": "{tmp}/ws", "setup": []},
    "memory": {"text": "Likes tea."},
    "secrets": {"text": "nothing here"},
    "card": {"tool": "exec", "args": {"command": "ls"}, "channel": "any"},
}
ANSWERS: dict[str, dict[str, object]] = {
    "shell": {"verdict": "allow"},
    "net": {"verdict": "deny", "connected": []},
    "path": {"verdict": "not_found"},
    "memory": {"verdict": "accept"},
    "secrets": {"output": "nothing here"},
    "card": {"refused": False},
}
CRASHES: dict[str, dict[str, object]] = {
    "shell": {"verdict": "crash"},
    "net": {"verdict": "crash"},
    "path": {"verdict": "crash"},
    "memory": {"verdict": "reject"},
    "secrets": {"output": ""},
    "card": {"refused": True},
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_answered_in_order_and_a_crash_is_an_answer(kind: str, tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    broken = {"id": "two", "setup": [{"kind": "no such thing"}]}
    lines = [{"id": "one", "unknown": 1, **SAMPLES[kind]}, broken, {"id": "three", **SAMPLES[kind]}]
    cases.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    result = CliRunner().invoke(guard, [kind, "--cases", str(cases)])
    assert result.exit_code == 0, result.output
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == ["one", "two", "three"]
    assert ANSWERS[kind].items() <= answers[0].items()
    assert CRASHES[kind].items() <= answers[1].items()
    assert "two: " in result.stderr


def test_an_encoded_file_is_read_and_an_out_file_written(tmp_path: Path) -> None:
    cases, out = tmp_path / "cases.jsonl.b64", tmp_path / "out.jsonl"
    cases.write_bytes(base64.encodebytes(json.dumps({"id": "1", "text": "日本"}).encode()))
    result = CliRunner().invoke(guard, ["secrets", "--cases", str(cases), "--out", str(out)])
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads(out.read_text("utf-8")) == {"id": "1", "output": "日本"}


def test_a_command_is_judged_for_a_person() -> None:
    refused = CliRunner().invoke(guard, ["shell", "rm -rf /"])
    assert refused.exit_code == 1
    assert refused.stdout.startswith("deny\n")
    assert "root_rm" in refused.stdout
    allowed = CliRunner().invoke(guard, ["shell", "ls"])
    assert (allowed.exit_code, allowed.stdout) == (0, "allow\n")


@pytest.mark.parametrize("arguments", [["net"], ["net", "http://x"], ["shell"]])
def test_a_guard_without_cases_is_a_usage_error(arguments: list[str]) -> None:
    assert CliRunner().invoke(guard, arguments).exit_code == 2


def test_a_broken_file_is_named_with_its_line(tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_text('{"id": "1", "text": "x"}\n{broken', "utf-8")
    result = CliRunner().invoke(guard, ["secrets", "--cases", str(cases)])
    assert "cases.jsonl:2: not JSON" in str(result.exception)
