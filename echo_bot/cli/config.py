"""`echo-bot config`: check the configuration, print an example of it or its JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.group()
def config() -> None:
    """Check the configuration, print an example or its schema."""


@config.command()
@click.option("-c", "--config", "path", type=click.Path(path_type=Path), help="Another configuration.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(path: Path | None, as_json: bool) -> None:
    """Read the configuration as a start would and say what is wrong with it."""
    from echo_bot.cli.guarded import refuse_inside_bot
    from echo_bot.cli.state import find_place
    from echo_bot.config.finding import user_config_path

    place = find_place(path)
    refuse_inside_bot(place.database)
    loaded = place.loaded
    if as_json:
        row = {
            "file": str(loaded.path) if loaded.path else None,
            "from_environment": loaded.from_environment,
            "credentials_in_file": loaded.yaml_credentials,
            "warnings": loaded.warnings,
        }
        click.echo(json.dumps(row))
        return
    if loaded.path is None:
        click.echo(f"no configuration file (looked for {user_config_path()}): the defaults hold")
    else:
        click.echo(f"{loaded.path}: ok")
    for key in loaded.from_environment:
        click.echo(f"  {key} is set by the environment")
    for key in loaded.yaml_credentials:
        click.echo(f"  {key} stands readable in the file: `echo-bot credentials set` keeps it encrypted")
    for warning in loaded.warnings:
        click.echo(f"  warning: {warning}")


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
