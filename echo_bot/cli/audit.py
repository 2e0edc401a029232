"""`echo-bot audit`: read the newest rows, check the chains."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from echo_bot.cli.state import State, config_option, find_place, is_empty, json_option, run_with
from echo_bot.text.counted import counted

if TYPE_CHECKING:
    from echo_bot.audit import Problem, Report
    from echo_bot.storage.records import AuditRow

NEGATIVE = 1


@click.group()
def audit() -> None:
    """Read and verify the audit."""


@audit.command()
@config_option
@json_option
@click.option("-n", "count", type=click.IntRange(1, 100_000), default=20, show_default=True, help="How many.")
def tail(config_path: Path | None, as_json: bool, count: int) -> None:
    """The newest rows, oldest first; with --json one object a line."""
    place = find_place(config_path)

    async def read(state: State) -> tuple[AuditRow, ...]:
        return await state.store.audit.tail(count)

    for row in () if is_empty(place) else run_with(place, read):
        click.echo(_as_json(row) if as_json else _as_line(row))


@audit.command()
@config_option
@json_option
def verify(config_path: Path | None, as_json: bool) -> None:
    """Check every chain. Exit code 1 when a row was changed, moved or is missing."""
    from echo_bot.audit import Report, check_stored

    place = find_place(config_path)

    async def check(state: State) -> Report:
        return await check_stored(state.store.audit, state.key.raw if state.key else None)

    report = Report((), 0, 0, None) if is_empty(place) else run_with(place, check)
    click.echo(_report_json(report) if as_json else _report_text(report))
    if not report.is_sound:
        sys.exit(NEGATIVE)


def _as_line(row: AuditRow) -> str:
    from echo_bot.approval.escape import escape_line

    fields = " ".join(f"{name}={_word(value)}" for name, value in json.loads(row.body_json).items())
    return escape_line(f"{row.at:%Y-%m-%d %H:%M:%S}Z {row.kind} {fields}".rstrip())


def _word(value: object) -> str:
    """A value as one word where it is one, else as JSON."""
    if isinstance(value, str) and value and not any(char.isspace() or char in "\"'=" for char in value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _as_json(row: AuditRow) -> str:
    return json.dumps(
        {
            "at": row.at.isoformat(),
            "writer": row.writer,
            "seq": row.seq,
            "kind": row.kind,
            "fields": json.loads(row.body_json),
            "mac": row.mac,
        },
        ensure_ascii=False,
    )


def _report_text(report: Report) -> str:
    lines = [_problem_line(several) for several in _alike(report.problems)]
    seen = f"{counted(report.rows, 'row')} in {counted(report.chains, 'chain')}"
    lines.append(f"{seen}: {'sound' if report.is_sound else 'BROKEN'}")
    if report.newest is not None:
        newest = report.newest
        lines.append(f"newest: {newest.writer} row {newest.seq} {newest.mac}")
    return "\n".join(lines)


def _alike(problems: Iterable[Problem]) -> Iterator[list[Problem]]:
    """Rows that follow one another and have the same problem, such as a whole chain under an older key."""
    several: list[Problem] = []
    for problem in problems:
        last = several[-1] if several else None
        if last and (last.writer, last.seq + 1, last.sentence) != (
            problem.writer,
            problem.seq,
            problem.sentence,
        ):
            yield several
            several = []
        several.append(problem)
    if several:
        yield several


def _problem_line(several: list[Problem]) -> str:
    first, last = several[0], several[-1]
    rows = f"row {first.seq}" if first is last else f"rows {first.seq}–{last.seq}"
    return f"{'BROKEN' if first.breaks else 'note'}: {first.writer} {rows}: {first.sentence}"


def _report_json(report: Report) -> str:
    newest = report.newest
    return json.dumps(
        {
            "sound": report.is_sound,
            "rows": report.rows,
            "chains": report.chains,
            "problems": [
                {"writer": p.writer, "row": p.seq, "sentence": p.sentence, "breaks": p.breaks}
                for p in report.problems
            ],
            "newest": {"writer": newest.writer, "row": newest.seq, "mac": newest.mac} if newest else None,
        },
        ensure_ascii=False,
    )
