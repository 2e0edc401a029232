"""`echo-bot setup`: from a platform's token to a channel that works, checked by the platform itself."""

from __future__ import annotations

from pathlib import Path

import click

from echo_bot.cli.state import config_option


@click.command()
@config_option
@click.argument("channel", metavar="telegram|discord|slack|…")
@click.option("--account", default="", metavar="NAME", help="One of several accounts of that platform.")
@click.option(
    "--allow", multiple=True, metavar="ID", help="A sender id that may chat (may be given several times)."
)
@click.option("--send-to", default="", metavar="ID", help="Send a test card to this person or chat.")
@click.option(
    "--set", "options", multiple=True, metavar="KEY=VALUE", help="Another key of the account, mode=http say."
)
def setup(
    config_path: Path | None,
    channel: str,
    account: str,
    allow: tuple[str, ...],
    send_to: str,
    options: tuple[str, ...],
) -> None:
    """Set a channel up: telegram, discord, slack, or one that a package of yours brings.

    Asks for the tokens (hidden; without a terminal one line each on standard input, in the order named),
    checks them by the platform's own calls, names what is missing there, writes the configuration and stores
    the tokens encrypted. A token that is stored need not be given again: an empty line keeps it. What it
    cannot finish it leaves as it was.
    """
    from echo_bot.cli.setting_up import Wish, set_up

    set_up(Wish(config_path, channel, account, allow, send_to, options))
