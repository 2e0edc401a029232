"""`echo-bot doctor`: everything that is wrong, weak or not ready here, each with what mends it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from echo_bot.cli.state import config_option, json_option, utc_now

if TYPE_CHECKING:
    from echo_bot.cli.doctor.finding import Finding

NEGATIVE = 1
_COLOURS = {"ok": "green", "note": "blue", "weak": "yellow", "broken": "red"}
_HEADINGS = {"mcp": "MCP servers"}


@click.command()
@config_option
@json_option
@click.option("--online", is_flag=True, help="Also ask the platforms whether they take the channels' tokens.")
@click.option(
    "--move-credentials",
    "moves",
    is_flag=True,
    help="Store the credentials of the configuration file encrypted, and remove them from the file.",
)
def doctor(config_path: Path | None, as_json: bool, online: bool, moves: bool) -> None:
    """Examine this installation: what is wrong, weak or not ready, and what mends it.

    Looks at the configuration, credentials, sandbox, tools, state files, database, audit, jobs, channels,
    port and clock. Own tools (tools.paths) are loaded. Nothing is changed and nothing leaves this
    computer, unless an option says so. Exit code 1 when there is something to mend; notes alone are none.
    """
    from echo_bot.cli.doctor.examining import examine
    from echo_bot.cli.doctor.finding import to_mend

    environ = dict(os.environ)  # moving takes the key out of the real one, as a start does
    if moves:
        from echo_bot.cli.doctor.moving import move_credentials

        for line in move_credentials(config_path, environ):
            click.echo(line, err=as_json)
    findings = examine(config_path, environ, utc_now(), online=online)
    if as_json:
        rows = [each.as_dict() for each in findings]
        click.echo(json.dumps({"ok": not to_mend(findings), "findings": rows}, ensure_ascii=False))
    else:
        for line in _lines(findings):
            click.echo(line)
    if to_mend(findings):
        sys.exit(NEGATIVE)


def _lines(findings: tuple[Finding, ...]) -> Iterator[str]:
    area = ""
    for each in findings:
        if each.area != area:
            area = each.area
            yield click.style(_HEADINGS.get(area, area.capitalize()), bold=True)
        mark = click.style(f"{each.severity.value:6}", fg=_COLOURS[each.severity.value])
        yield f"  {mark} {each.what}"
        if each.fix:
            yield f"         → {each.fix}"
