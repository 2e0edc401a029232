"""`echo-bot guard`: what a guard says about one command, or about every row of a file of cases."""

from __future__ import annotations

import os
from pathlib import Path

import click

from echo_bot.called import command as command_line

KINDS = ("shell", "net", "path", "memory", "secrets", "card")
_MARKS = {"allow": "green", "ask": "yellow", "deny": "red"}
_EXIT_CODES = {"allow": 0, "ask": 0, "deny": 1}


@click.command()
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("command", required=False)
@click.option(
    "--cases",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of rows: JSON lines, or .b64 of them.",
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write there, not to stdout.")
def guard(kind: str, command: str | None, cases: Path | None, out: Path | None) -> None:
    """Ask the guard KIND about every row of --cases, or the shell guard about COMMAND; nothing is run.

    For a COMMAND the exit code is 1 when the guard refuses it.
    """
    if cases is not None:
        if command is not None:
            raise click.UsageError("--cases takes its rows from the file; leave COMMAND out")
        from echo_bot.cli.guard_cases import answer_cases

        answer_cases(kind, cases, out)
        return
    if kind != "shell" or command is None:
        raise click.UsageError(f"give --cases FILE, or: {command_line('guard shell')} 'COMMAND'")
    _show_findings(command)


def _show_findings(command: str) -> None:
    from echo_bot.policy.guards.shell import judge_command

    report = judge_command(command, cwd=os.getcwd(), home=os.path.expanduser("~"), env={})
    click.secho(report.verdict, fg=_MARKS[report.verdict], bold=True)
    for finding in report.findings:
        place = f" [{finding.span[0]}:{finding.span[1]}]" if finding.span else ""
        click.echo(f"{finding.verdict:5} {finding.kind}{place}: {finding.sentence}")
    raise SystemExit(_EXIT_CODES[report.verdict])
