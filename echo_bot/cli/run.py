"""`echo-bot run`: start the bot and serve until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from echo_bot.app.bot import Bot, Started

HELP = """Start the bot.

Without a configuration it serves a web chat on this computer and, when started in a terminal, a chat there.
"""


@click.command(help=HELP)
@click.option("-c", "--config", "path", type=click.Path(path_type=Path), help="The configuration file.")
@click.option(
    "--headless", is_flag=True, help="Open no browser, no terminal chat; print one JSON line when it serves."
)
def run(path: Path | None, headless: bool) -> None:
    from echo_bot.app.discovery import discover_channels
    from echo_bot.config.loader import load_config

    discovered = discover_channels()
    loaded = load_config(path, os.environ, discovered.manifests.values())
    terminal = not headless and sys.stdin.isatty() and sys.stdout.isatty()

    # The model library would print a banner into the chat at the first answer.
    os.environ.setdefault("PYDANTIC_AI_NO_BANNER", "1")

    from echo_bot.app.bot import Bot, RunOptions
    from echo_bot.execution.inherited import hear_ignored_signals

    hear_ignored_signals()
    options = RunOptions(
        terminal=terminal, environ=os.environ, headless=headless, status=partial(_status, path)
    )
    bot = Bot(loaded, discovered, options)
    has_chat = terminal and loaded.config.channels.cli.enabled is not False
    asyncio.run(_serve(bot, headless=headless, has_chat=has_chat))


def _status(path: Path | None) -> dict[str, object]:
    """What `echo-bot status --json` prints."""
    from echo_bot.cli.looking import look
    from echo_bot.cli.state import utc_now
    from echo_bot.cli.status import as_dict

    return as_dict(look(path, os.environ, utc_now()))


async def _serve(bot: Bot, *, headless: bool, has_chat: bool) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    started = await bot.start()
    gc.freeze()  # what a start made stays; collections that look at it again hold up every chat
    try:
        _announce(started, headless=headless, has_chat=has_chat)
        lost = asyncio.create_task(bot.lost.wait())
        stop = asyncio.create_task(stopping.wait())
        _, pending = await asyncio.wait({lost, stop}, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
    finally:
        await bot.stop()


def _announce(started: Started, *, headless: bool, has_chat: bool) -> None:
    """What a person at the terminal has to know before the chat begins; for a program one JSON line."""
    if headless:
        click.echo(json.dumps({"ready": True, "url": started.url or None}))
        return
    for warning in started.warnings:
        click.echo(f"! {warning}", err=True)
    if started.unserved:
        click.echo(f"! The page is not served: {started.unserved}", err=True)
    stops = "Ctrl-D, or Ctrl-C twice, stops the bot" if has_chat else "Ctrl-C stops the bot"
    if not started.url:
        click.echo(f"({stops})", err=True)
        return
    click.echo(f"Open {started.url}\n(the link logs you in once, within 10 minutes; {stops})")
    if not os.environ.get("ECHO_BOT_NO_BROWSER") and (os.environ.get("DISPLAY") or sys.platform == "darwin"):
        import webbrowser

        webbrowser.open(started.url)
