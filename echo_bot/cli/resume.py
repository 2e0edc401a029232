"""`echo-bot resume`: end the pause of everything. The running bot acts within a second."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from echo_bot.cli.guarded import refuse_inside_bot
from echo_bot.cli.pause import LOCAL
from echo_bot.cli.state import State, config_option, find_place, is_empty, run_with, utc_now

NEGATIVE = 1


@click.command()
@config_option
def resume(config_path: Path | None) -> None:
    """Let everything go on after a pause. Chats that were paused by themselves stay so."""
    place = find_place(config_path)
    refuse_inside_bot(place.database)

    async def lift(state: State) -> bool:
        from echo_bot.bus.protocol import PAUSES_TOPIC
        from echo_bot.session import Pausing

        if not await Pausing(state.store.values, utc_now).resume():
            return False
        await state.bus.notify(PAUSES_TOPIC)
        await state.audit.record("resumed", by=str(LOCAL), session="")
        return True

    if is_empty(place) or not run_with(place, lift):
        click.echo("nothing is paused", err=True)
        sys.exit(NEGATIVE)
    click.echo("everything goes on")
