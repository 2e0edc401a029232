"""`echo-bot credentials`: make a key, keep values encrypted, list and delete them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from echo_bot.called import command
from echo_bot.cli.guarded import refuse_inside_bot
from echo_bot.cli.state import State, config_option, find_place, is_empty, json_option, run_with, utc_now
from echo_bot.cli.table import print_table

if TYPE_CHECKING:
    from echo_bot.channel import ChannelManifest
    from echo_bot.credentials import SealedName, Vault

NEGATIVE = 1
CONFIG_NAMES = {
    f"{owner}.{field}": (owner, field)
    for owner, field in (
        ("models", "api_key"),
        ("tools.web", "search_api_key"),
        ("tools.image_gen", "api_key"),
        ("tools.tts", "api_key"),
        ("tools.stt", "api_key"),
        ("tools.vision", "api_key"),
    )
}
"""Credentials outside the channels: owner and field by configuration key."""

_NAMED = (
    "models.providers.NAME.api_key",
    "tools.mcp_servers.NAME.headers.HEADER",
    "tools.mcp_servers.NAME.env.VARIABLE",
)
"""Forms of those that stand below a name of the operator's own."""


@click.group()
def credentials() -> None:
    """Make a key, store and list credentials.

    NAME is a configuration key (channels.telegram.token, channels.telegram.accounts.work.token,
    models.api_key) or a value for a tool of your own (tool:weather.key).
    """


@credentials.command()
def key() -> None:
    """Print a new key. Keep it safe: without it the stored values cannot be read."""
    from echo_bot.config.key_variable import KEY_VARIABLE
    from echo_bot.credentials import Key

    click.echo(Key.generate().reveal())
    if sys.stdout.isatty():
        click.echo(f"Put it into the environment of the bot as {KEY_VARIABLE}, and keep a copy.", err=True)


@credentials.command("set")
@config_option
@click.argument("name")
def set_(config_path: Path | None, name: str) -> None:
    """Store a value, read from standard input or a hidden prompt (never from the command line)."""
    place = find_place(config_path)
    refuse_inside_bot(place.database)
    owner, field = owner_and_field(name, place.manifests)
    value = _read_secret(f"Value of {name}")

    async def keep(state: State) -> str:
        await _vault(state).set(owner, field, value)
        await state.audit.record("credential_stored", name=name)
        return state.key.key_id if state.key else ""

    click.echo(f"stored {name} (key {run_with(place, keep)}); it counts from the next start")


@credentials.command("list")
@config_option
@json_option
def list_(config_path: Path | None, as_json: bool) -> None:
    """Names, keys and ages of what is stored; never a value."""
    place = find_place(config_path)
    refuse_inside_bot(place.database)

    async def read(state: State) -> tuple[SealedName, ...]:
        return await _vault(state).list()

    found = () if is_empty(place) else run_with(place, read)
    if as_json:
        click.echo(json.dumps([_row(each) for each in found]))
    elif found:
        from echo_bot.credentials import stored_name

        rows = [
            (stored_name(each.owner, each.field), each.key_id, f"{each.updated_at:%Y-%m-%d}")
            for each in found
        ]
        print_table(("name", "key", "stored"), rows)
    else:
        click.echo("nothing is stored", err=True)


@credentials.command()
@config_option
@click.argument("name")
def delete(config_path: Path | None, name: str) -> None:
    """Delete a stored value."""
    place = find_place(config_path)
    refuse_inside_bot(place.database)
    owner, field = owner_and_field(name, place.manifests)

    async def drop(state: State) -> bool:
        if not await _vault(state).delete(owner, field):
            return False
        await state.audit.record("credential_deleted", name=name)
        return True

    if is_empty(place) or not run_with(place, drop):
        click.echo(f"{name} is not stored; `{command('credentials list')}` shows what is", err=True)
        sys.exit(NEGATIVE)
    click.echo(f"deleted {name}")


@credentials.command()
@config_option
def rotate(config_path: Path | None) -> None:
    """Encrypt everything with a new key, read from standard input or a hidden prompt."""
    from echo_bot.credentials import Key
    from echo_bot.errors import ConfigError

    place = find_place(config_path)
    refuse_inside_bot(place.database)
    new = Key.parse(_read_secret("The new key"))
    if new is None:
        raise ConfigError(f"that is not a credential key; make one with `{command('credentials key')}`")

    async def renew(state: State) -> int:
        count = await _vault(state).rotate(new)
        await state.audit.record("credentials_rotated", key=new.key_id, count=count)
        return count

    click.echo(f"{run_with(place, renew)} values are now encrypted with key {new.key_id}; set it for the bot")


def owner_and_field(name: str, manifests: Iterable[ChannelManifest]) -> tuple[str, str]:
    """Where a name is stored. Raises ConfigError for one that no part of the bot would ever read."""
    from echo_bot.errors import ConfigError

    head, _, field = name.rpartition(".")
    if head.startswith("tool:") and head != "tool:" and field:
        return head, field
    if name in CONFIG_NAMES:
        return CONFIG_NAMES[name]
    secrets = {manifest.name: manifest.secrets for manifest in manifests}
    match name.split("."):
        case ["channels", channel, field] if field in secrets.get(channel, ()):
            return f"channel:{channel}", field
        case ["channels", channel, "accounts", account, field] if account and field in secrets.get(
            channel, ()
        ):
            return f"channel:{channel}/{account}", field
        case ["models", "providers", provider, "api_key"] if provider:
            return f"models.providers.{provider}", "api_key"
        case ["tools", "mcp_servers", server, "headers" | "env" as part, field] if server and field:
            return f"tools.mcp_servers.{server}.{part}", field
    known = [f"channels.{channel}.{each}" for channel, fields in secrets.items() for each in fields]
    nearest = get_close_matches(name, [*known, *CONFIG_NAMES], n=1)
    hint = (
        f"did you mean {nearest[0]}?" if nearest else f"known: {', '.join([*known, *CONFIG_NAMES, *_NAMED])}."
    )
    raise ConfigError(
        f"{name} is no credential that can be stored; {hint} A tool's own value is tool:NAME.FIELD"
    )


def _read_secret(label: str) -> str:
    from echo_bot.errors import ConfigError

    if sys.stdin.isatty():
        value: str = click.prompt(label, hide_input=True, err=True)
    else:
        value = sys.stdin.read()
    value = value.strip()
    if not value or not value.isprintable():
        raise ConfigError(
            "no value was given on standard input, or it holds line breaks or control characters"
        )
    return value


def _vault(state: State) -> Vault:
    from echo_bot.credentials import Vault

    return Vault(state.store.sealed, state.key, utc_now, empty=state.empty_key_variables)


def _row(each: SealedName) -> dict[str, str]:
    from echo_bot.credentials import stored_name

    return {
        "name": stored_name(each.owner, each.field),
        "key_id": each.key_id,
        "updated_at": each.updated_at.isoformat(),
    }
