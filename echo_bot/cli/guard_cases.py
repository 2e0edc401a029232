"""The batch side of `echo-bot guard`: rows in, one prediction a line out, in the same order."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

import click

from echo_bot.errors import EchoBotError

Row = Mapping[str, Any]
Answer = dict[str, object]
Judge = Callable[[Row], Answer]

_CASE_CWD = "/srv/projects/echo/workspace"
_CASE_HOME = "/home/user"
_CRASHED: Mapping[str, Answer] = {
    "memory": {"verdict": "reject"},
    "secrets": {"output": ""},
    "card": {"refused": True, "payload": "", "visible": ""},
}


def answer_cases(kind: str, cases: Path, out: Path | None) -> None:
    """Write the predictions of guard `kind` for the rows of `cases` to `out`, or to stdout."""
    judge = _judge_for(kind)
    rows = list(_rows(cases))
    if out is None:
        _answer(kind, judge, rows, sys.stdout)
        return
    with out.open("w", encoding="utf-8") as stream:
        _answer(kind, judge, rows, stream)


def _answer(kind: str, judge: Judge, rows: list[Row], stream: TextIO) -> None:
    for row in rows:
        try:
            answer = judge(row)
        except Exception as error:  # noqa: BLE001 - a row that raises is an answer too: the guard crashed on it
            click.echo(f"{row.get('id')}: {type(error).__name__}: {error}", err=True)
            answer = {"id": row.get("id"), **_CRASHED.get(kind, {"verdict": "crash"})}
        stream.write(json.dumps(answer) + "\n")


def _rows(cases: Path) -> Iterator[Row]:
    raw = cases.read_bytes()
    try:
        text = (base64.decodebytes(raw) if cases.suffix == ".b64" else raw).decode("utf-8")
    except ValueError as error:
        raise EchoBotError(f"{cases}: not a file of cases: {error}") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise EchoBotError(f"{cases}:{number}: not JSON: {error}") from error
        if not isinstance(row, dict):
            raise EchoBotError(f"{cases}:{number}: a row is a JSON object")
        yield row


def _judge_for(kind: str) -> Judge:
    """The judge of one kind; its modules are imported only then."""
    match kind:
        case "shell":
            return _shell_judge()
        case "net":
            from echo_bot.testing.net_cases import run_net_case

            return run_net_case
        case "path":
            from echo_bot.testing.path_cases import run_path_case

            return lambda row: dict(run_path_case(row))
        case "memory":
            return _memory_judge()
        case "secrets":
            return _secrets_judge()
        case "card":
            from echo_bot.testing.card_cases import run_card_case

            return run_card_case
        case _:
            raise ValueError(f"no guard is called {kind!r}")


def _shell_judge() -> Judge:
    from echo_bot.policy.guards.shell import judge_command

    def judge(row: Row) -> Answer:
        report = judge_command(row["command"], cwd=_CASE_CWD, home=_CASE_HOME, env={})
        return {"id": row["id"], "verdict": report.verdict.value, "kinds": [f.kind for f in report.findings]}

    return judge


def _memory_judge() -> Judge:
    from echo_bot.policy.guards.memory import scan_memory

    def judge(row: Row) -> Answer:
        findings = scan_memory(row["text"], "content")
        return {"id": row["id"], "verdict": "reject" if findings else "accept"}

    return judge


def _secrets_judge() -> Judge:
    from echo_bot.policy.guards.secrets import SecretMask

    mask = SecretMask()
    return lambda row: {"id": row["id"], "output": mask.mask(row["text"])}
