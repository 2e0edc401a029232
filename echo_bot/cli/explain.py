"""`echo-bot explain`: what the gate would decide about a call, step by step; nothing is run."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import click

EXECUTORS = ("local", "sandbox", "container", "remote")
_MARKS = {"allow": "green", "ask": "yellow", "deny": "red"}


@click.command()
@click.argument("tool", required=False)
@click.argument("arguments", required=False, metavar="[JSON_ARGS]")
@click.option("--channel", default="cli", help="The channel the call comes from.")
@click.option("--sender", default="local", help="The sender's id on that channel.")
@click.option("--chat", default="local", help="The chat's id.")
@click.option("--unattended", is_flag=True, help="As a scheduled job.")
@click.option("--cron-authorized", is_flag=True, help="As a job that a person authorised.")
@click.option("--nested", is_flag=True, help="As a worker.")
@click.option("--executor", type=click.Choice(EXECUTORS), help="Where tools.exec.host: auto would land.")
@click.option(
    "--interactive/--no-interactive",
    default=None,
    help="As if somebody sat at the terminal chat, or nobody; else: are stdin and stdout terminals?",
)
@click.option("-c", "--config", "config_path", type=click.Path(path_type=Path), help="Another configuration.")
@click.option(
    "--cases", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A file of cases."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain(
    tool: str | None,
    arguments: str | None,
    channel: str,
    sender: str,
    chat: str,
    unattended: bool,
    cron_authorized: bool,
    nested: bool,
    executor: str | None,
    interactive: bool | None,
    config_path: Path | None,
    cases: Path | None,
    as_json: bool,
) -> None:
    """Say what the gate would decide about TOOL with JSON_ARGS, or about every line of --cases.

    Exit code 0 whatever the verdict is; 2 for a wrong call of this verb and for a configuration that a start
    would refuse.
    """
    if cases is not None:
        if tool is not None:
            raise click.UsageError("--cases takes its calls from the file; leave TOOL out")
        if interactive is not None:
            raise click.UsageError(
                "in --cases the channel cli counts as interactive; leave --interactive out"
            )
        _explain_cases(cases)
        return
    if tool is None:
        raise click.UsageError("name a TOOL and its JSON_ARGS, or give --cases FILE")
    from echo_bot.cli.explaining import explanation, read_case, would_pass_at_terminal
    from echo_bot.cli.explaining_here import facts_here

    case = read_case(
        {
            "call": {"tool": tool, "args": _parsed(arguments)},
            "event": {
                "channel": channel,
                "sender_id": sender,
                "chat_id": chat,
                "unattended": unattended,
                "cron_authorized": cron_authorized,
            },
            "nested": nested,
        }
    )
    at_terminal = sys.stdin.isatty() and sys.stdout.isatty() if interactive is None else interactive
    facts, may_speak = facts_here(case, config_path, executor, interactive=at_terminal)
    row = {**explanation(facts), "interactive": facts.caller.interactive, "may_speak": may_speak}
    if as_json:
        click.echo(json.dumps(row, ensure_ascii=False))
    else:
        _show(row)
        if not may_speak:
            click.echo(f"{facts.caller.sender} is neither listed nor paired: the bot would not listen at all")
        if would_pass_at_terminal(facts):
            click.echo("as if nobody sat at the terminal; with --interactive: as if somebody did")


def _explain_cases(file: Path) -> None:
    from echo_bot.cli.explaining import explain_cases
    from echo_bot.cli.plugins import installed_channels

    with file.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        for row in explain_cases(lines, installed_channels()):
            click.echo(json.dumps(row, ensure_ascii=False))


def _parsed(arguments: str | None) -> object:
    """The call's arguments as given; what is no JSON is a usage error."""
    if arguments is None:
        return {}
    try:
        parsed: object = json.loads(arguments)
    except ValueError as error:
        raise click.UsageError(
            f'JSON_ARGS is not JSON ({error}); write for example \'{{"path": "x"}}\''
        ) from None
    return parsed


def _show(row: Mapping[str, object]) -> None:
    """The verdict first, then why, then every step."""
    verdict = str(row["verdict"])
    click.secho(f"{verdict.upper()}", fg=_MARKS[verdict], bold=True, nl=False)
    click.echo(f" at {row['step']}: {visible(str(row['reason']))}")
    facts = {
        "tool": row["tool"],
        "risk": row["risk"] or "not classified",
        "executor": row["executor"] if row["executor"] != "none" else "",
        "a card would offer": ", ".join(map(str, _items(row["offers"]))),
        "people who must approve": "" if row["approvals_needed"] in (0, 1) else row["approvals_needed"],
    }
    for label, value in facts.items():
        if value:
            click.echo(f"  {label}: {visible(str(value))}")
    for finding in _items(row["findings"]):
        if isinstance(finding, dict):
            click.echo(
                f"  finding {finding['kind']} ({finding['verdict']}): {visible(str(finding['sentence']))}"
            )
    for command in _items(row["commands"]):
        click.echo(f"  runs: {visible(str(command))}")
    _show_steps(_items(row["steps"]))


def _show_steps(steps: list[object]) -> None:
    from echo_bot.policy.decision import StepName

    asked = {str(step["step"]): step for step in steps if isinstance(step, dict)}
    width = max(len(name) for name in StepName)
    click.echo("steps:")
    for name in StepName:
        step = asked.get(name.value)
        if step is None:
            click.secho(f"  {name.value:<{width}}  not reached", dim=True)
        elif step["verdict"] is None:
            click.echo(f"  {name.value:<{width}}  –")
        else:
            said = str(step["verdict"])
            click.echo(f"  {name.value:<{width}}  {click.style(said, fg=_MARKS[said])}")


def visible(text: str) -> str:
    """The text with control characters written out: what is shown must not steer the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []
