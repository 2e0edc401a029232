"""`echo-bot config`: check the configuration, print an example of it or its JSON Schema."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

USAGE_OR_CONFIG = 2


@click.group()
def config() -> None:
    """Check the configuration, print an example or its schema."""


@config.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("-c", "--config", "path", type=click.Path(path_type=Path), help="The same as FILE.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(file: Path | None, path: Path | None, as_json: bool) -> None:
    """Say everything that a start with this configuration would refuse or warn of; nothing is started.

    Looks at the configuration that `run` would take, or at FILE. Own tools (tools.paths) are loaded. Exit
    code 2 when a start would refuse, else 0, also with warnings.
    """
    if file is not None and path is not None and file != path:
        raise click.UsageError("give the configuration once: as FILE or with -c")
    from echo_bot.cli.checking import check_config

    found = check_config(file or path, os.environ)
    if as_json:
        click.echo(json.dumps(found.as_dict(), ensure_ascii=False))
    else:
        for line in found.lines():
            click.echo(line)
        for error in found.errors:
            click.echo(f"echo-bot: {error}", err=True)
    if found.errors:
        sys.exit(USAGE_OR_CONFIG)


@config.command()
def example() -> None:
    """Print every key with its default and what it means."""
    from echo_bot.config.example import example_yaml

    click.echo(example_yaml(), nl=False)


@config.command()
def schema() -> None:
    """Print the JSON Schema of the configuration file."""
    from echo_bot.cli.plugins import installed_channels
    from echo_bot.config.descriptions import described_schema
    from echo_bot.config.model import config_model

    model = config_model(installed_channels())
    click.echo(json.dumps(described_schema(model), indent=2, ensure_ascii=False))
