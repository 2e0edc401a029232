"""`echo-bot pair`: make a one-time code that lets a new person in."""

from __future__ import annotations

import secrets
from datetime import timedelta
from pathlib import Path

import click

from echo_bot.cli.guarded import refuse_inside_bot
from echo_bot.cli.state import State, config_option, find_place, run_with, utc_now

ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Without letters and digits that are mistaken for one another."""

CODE_LENGTH = 8
LASTS = timedelta(minutes=10)


@click.command()
@config_option
@click.option("--approver", is_flag=True, help="They may also decide other people's requests.")
@click.option("--admin", is_flag=True, help="They also become an admin.")
def pair(config_path: Path | None, approver: bool, admin: bool) -> None:
    """Print a one-time code, good for 10 minutes. Whoever sends it to the bot may chat with it.

    Also without --approver they may approve what they asked for themselves, unless the configuration has
    permissions.approval.approvers, or requester_may_approve false for that risk.
    """
    from echo_bot.app.enabled import enabled_channels
    from echo_bot.inbox.admission import code_hash
    from echo_bot.storage.records import PairingCode, PairingRole

    place = find_place(config_path)
    refuse_inside_bot(place.database)
    roles: list[PairingRole] = ["chat"]
    if approver:
        roles.append("approver")
    if admin:
        roles.append("admin")
    code = make_code()

    async def keep(state: State) -> None:
        record = PairingCode(code_hash(code), tuple(roles), utc_now() + LASTS)
        await state.audit.record("pairing_code", roles=list(roles))
        await state.store.people.add_code(record)

    run_with(place, keep)
    click.echo(code)
    click.echo(f"Send this to the bot in a direct chat within 10 minutes: /pair {code}", err=True)
    on = {name for name, _ in enabled_channels(place.loaded.config.channels, terminal=False, headless=True)}
    for each in place.manifests:
        if each.command_form and each.name in on:
            click.echo(f"In {each.title}: {each.command_form.format(command=f'pair {code}')}", err=True)


def make_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
