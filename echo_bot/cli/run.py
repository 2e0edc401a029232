"""`echo-bot run`: start the bot and serve until it is told to stop."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import click

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

    bot = Bot(loaded, discovered, RunOptions(terminal=terminal, environ=os.environ))
    asyncio.run(_serve(bot, headless=headless, terminal=terminal))


async def _serve(bot: object, *, headless: bool, terminal: bool) -> None:
    from echo_bot.app.bot import Bot

    assert isinstance(bot, Bot)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    started = await bot.start()
    try:
        _announce(started.url, started.warnings, headless=headless, terminal=terminal)
        lost = asyncio.create_task(bot.lost.wait())
        stop = asyncio.create_task(stopping.wait())
        _, pending = await asyncio.wait({lost, stop}, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
    finally:
        await bot.stop()


def _announce(url: str, warnings: tuple[str, ...], *, headless: bool, terminal: bool) -> None:
    if headless:
        click.echo(json.dumps({"ready": True, "url": url or None}))
        return
    for warning in warnings:
        click.echo(f"! {warning}", err=True)
    if url:
        click.echo(f"Open {url}\n(the link logs you in once, within 10 minutes; Ctrl-C stops the bot)")
        if not os.environ.get("ECHO_BOT_NO_BROWSER") and (
            os.environ.get("DISPLAY") or sys.platform == "darwin"
        ):
            import webbrowser

            webbrowser.open(url)
