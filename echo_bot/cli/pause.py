"""`echo-bot pause`: let nothing new begin, anywhere. The running bot acts within a second."""

from __future__ import annotations

from pathlib import Path

import click

from echo_bot.called import command
from echo_bot.cli.guarded import refuse_inside_bot
from echo_bot.cli.state import State, config_option, find_place, run_with, utc_now
from echo_bot.events import Identity

LOCAL = Identity("cli", "local")


@click.command()
@config_option
def pause(config_path: Path | None) -> None:
    """Let nothing new begin, anywhere: no turn, job or worker. What is running goes on."""
    place = find_place(config_path)
    refuse_inside_bot(place.database)

    async def hold(state: State) -> str:
        from echo_bot.bus.protocol import PAUSES_TOPIC
        from echo_bot.session import Pausing

        pausing = Pausing(state.store.values, utc_now)
        await pausing.load()
        if not await pausing.pause(LOCAL):
            return f"everything is paused already, {pausing.pause_of()}"
        await state.bus.notify(PAUSES_TOPIC)
        await state.audit.record("paused", by=str(LOCAL), session="")
        return f"everything is paused; `{command('resume')}` lets it go on"

    click.echo(run_with(place, hold))
