"""Rows of text: a drawn table where a person looks, tab-separated lines when piped."""

from __future__ import annotations

from collections.abc import Sequence

import click

from echo_bot.cli.state import is_terminal


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """`rows` are literal text: markup in them means nothing."""
    if not is_terminal():
        for row in rows:
            click.echo("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(highlight=False).print(table)
