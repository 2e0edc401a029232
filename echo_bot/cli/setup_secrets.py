"""The secrets that `echo-bot setup` asks for: hidden on a terminal, else a line each on standard input."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping

import click

from echo_bot.channel import Wanted
from echo_bot.cli.state import State, utc_now
from echo_bot.credentials import Vault, require_key, stored_name
from echo_bot.errors import ChannelError, ChannelFatal, ConfigError, EchoBotError, RetryAfter

_QUOTES = "\"'“”‘’`"


def ask(wanted: Wanted, kept: str) -> str:
    """What the person gives; where that is nothing, what is `kept`. Raises ConfigError without either."""
    if sys.stdin.isatty():
        click.echo(wanted.where, err=True)
        hint = "not shown; Enter keeps the stored one" if kept else "not shown as you type"
        value: str = click.prompt(
            f"{wanted.label} ({hint})",
            hide_input=True,
            err=True,
            default=kept or None,
            show_default=False,
        )
    else:
        value = sys.stdin.readline()
    value = value.strip() or kept
    if not value or not value.isprintable():
        raise ConfigError(f"{wanted.label} was not given. {wanted.where}")
    return value


async def stored_already(state: State, *, owner: str, fields: Collection[str]) -> dict[tuple[str, str], str]:
    """By owner and field all values that the key opens. Raises StartError as `check_key` does."""
    await check_key(state, owner=owner, fields=fields)
    vault = Vault(state.store.sealed, state.key, utc_now)
    found: dict[tuple[str, str], str] = {}
    for each in await vault.list() if state.key else ():
        try:
            found[each.owner, each.field] = await vault.get(each.owner, each.field) or ""
        except EchoBotError:
            continue
    return found


async def check_key(state: State, *, owner: str, fields: Collection[str]) -> None:
    """Raises StartError where other stored values need another key: with two keys nothing would start."""
    vault = Vault(state.store.sealed, state.key, utc_now)
    others = [each for each in await vault.list() if each.owner != owner or each.field not in fields]
    require_key(state.key, [stored_name(each.owner, each.field) for each in others])
    for each in others:
        await vault.get(each.owner, each.field)


def refusal(error: ChannelError, wanted: Collection[Wanted], given: Mapping[str, str]) -> str:
    """What to tell of a failed check, and what to do: a refused token is mended by another answer."""
    if isinstance(error, ChannelFatal):
        refused = next((each for each in wanted if each.field == error.secret), None)
        if refused is None:
            return str(error)
        looks = _looks(refused, given.get(refused.field, ""))
        return f"{error.reason}. {looks}{refused.where} Then run this again."
    if isinstance(error, RetryAfter):
        return f"{error}. Run this again after that."
    return f"{error}. Check the network (or the account's proxy) and run this again."


def _looks(wanted: Wanted, value: str) -> str:
    """What can be seen of a value that was refused; "" when it looks as it should."""
    if any(each.isspace() or each in _QUOTES for each in value):
        return "What was given holds a blank or a quotation mark: give the token alone. "
    if wanted.begins and not value.startswith(wanted.begins):
        return f"It begins with {wanted.begins}, and what was given does not: it is another one. "
    return ""
