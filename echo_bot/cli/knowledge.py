"""`echo-bot knowledge`: what is in the index of documents; bring it up to date; search it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from echo_bot.cli.state import config_option, find_place, utc_now

if TYPE_CHECKING:
    from echo_bot.tools.builtin.knowledge import Knowledge

NEGATIVE = 1
_EXCERPT_CHARS = 300


@click.group(invoke_without_command=True)
@click.pass_context
def knowledge(ctx: click.Context) -> None:
    """The documents of knowledge.paths, as knowledge_search finds them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(status, config_path=None)


@knowledge.command()
@config_option
def status(config_path: Path | None) -> None:
    """What is in the index."""
    import asyncio

    click.echo(asyncio.run(_knowledge(config_path).status()))


@knowledge.command()
@config_option
def rebuild(config_path: Path | None) -> None:
    """Index what is new or changed, and forget what is gone. The bot may run meanwhile."""
    import asyncio

    documents = _knowledge(config_path)
    if not documents.paths and not documents.index.exists():
        click.echo("nothing to index: set knowledge.paths", err=True)
        sys.exit(NEGATIVE)
    report = asyncio.run(documents.rebuild(lambda line: click.echo(line, err=True, nl=False)))
    click.echo(report.text())


@knowledge.command()
@click.argument("query")
@config_option
@click.option("--max-results", default=5, show_default=True, type=click.IntRange(1, 50))
def search(query: str, config_path: Path | None, max_results: int) -> None:
    """Print the passages that fit best, each with its file and lines."""
    import asyncio

    from echo_bot.text.terms import excerpt, terms_of

    terms = terms_of(query)
    found = asyncio.run(_knowledge(config_path).search(terms, max_results, lambda line: None))
    for passage in found:
        click.echo(f"{passage.path}:{passage.first_line}-{passage.last_line}")
        click.echo(f"    {excerpt(passage.text, terms, _EXCERPT_CHARS)}")
    if not found:
        click.echo("no passage fits", err=True)
        sys.exit(NEGATIVE)


def _knowledge(config_path: Path | None) -> Knowledge:
    from echo_bot.app.remembering import knowledge_of, operator_door
    from echo_bot.config.policy import policy_settings

    place = find_place(config_path)
    settings = policy_settings(place.loaded.config, config_path=place.loaded.path, manifests=place.manifests)
    return knowledge_of(place.loaded.config, settings.places, lambda: operator_door(settings.places), utc_now)
