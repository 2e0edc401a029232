"""`echo-bot login`: a fresh link that logs a browser in to the page of the running bot."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from echo_bot.called import command
from echo_bot.cli.guarded import refuse_inside_bot
from echo_bot.cli.sight import Sight, look_at_bot
from echo_bot.cli.state import State, config_option, find_place, run_with, utc_now

NOT_REACHABLE = 3


@click.command()
@config_option
def login(config_path: Path | None) -> None:
    """Print a link that logs one browser in to the running bot's page, once, within 10 minutes.

    Exit code 3 when no bot runs here or it serves no page.
    """
    found = look_at_bot(config_path, os.environ, utc_now())
    refuse_inside_bot(found.database)
    obstacle = _obstacle(found)
    if obstacle:
        click.echo(f"echo-bot: {obstacle}", err=True)
        sys.exit(NOT_REACHABLE)

    async def issue(state: State) -> str:
        from echo_bot.gateway.login import LoginDesk
        from echo_bot.gateway.server import LOCAL_IDENTITY, login_url

        secret = await LoginDesk(state.store.logins, utc_now).new_secret(LOCAL_IDENTITY)
        await state.audit.record("login_link", identity=LOCAL_IDENTITY)
        return login_url(found.text("url"), secret)

    click.echo(run_with(find_place(config_path), issue))


def _obstacle(found: Sight) -> str:
    """Why there is no page to log in to, or ""."""
    if found.bot is None:
        start = command("run")
        return f"no bot runs on {found.database.parent}: start one with `{start}`, which prints a link"
    if not found.account:
        return f"the bot (process {found.bot.pid}) is just starting: try again in a moment"
    if not found.text("url"):
        return (
            f"the bot (process {found.bot.pid}) serves no page: channels.web.enabled is false, or its port "
            f"could not be had; `{command('status')}` says which"
        )
    return ""
