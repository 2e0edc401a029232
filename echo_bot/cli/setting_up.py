"""How `echo-bot setup` works: ask, check at the platform, then write, in this order."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path

import click

from echo_bot.app.discovery import load_setup
from echo_bot.app.one_bot import OneBotEach
from echo_bot.app.secrets import channel_owner
from echo_bot.called import command
from echo_bot.channel import (
    SETUP_TOKEN,
    ChannelManifest,
    ChannelSettings,
    ChannelSetup,
    SetupReport,
    Wanted,
)
from echo_bot.cli.guarded import refuse_inside_bot
from echo_bot.cli.plugins import installed_channels
from echo_bot.cli.setup_secrets import ask, check_key, refusal, stored_already
from echo_bot.cli.sight import look_at_bot
from echo_bot.cli.state import Place, State, find_place, is_empty, run_with, utc_now
from echo_bot.config.channels import ACCOUNT_NAME, Reach, account_settings, accounts, sections
from echo_bot.config.complaint import must_fit
from echo_bot.config.finding import find_config, read_config, user_config_path
from echo_bot.config.key_variable import KEY_VARIABLE, has_key
from echo_bot.config.loader import examine_content
from echo_bot.config.rewriting import replace_file, require_replaceable, value_in, with_keys
from echo_bot.config.yaml_tree import parse_yaml
from echo_bot.credentials import Key, Vault
from echo_bot.errors import ChannelError, ChannelFatal, ConfigError, StartError
from echo_bot.events import Button, ButtonStyle, Card, Paragraph

NEGATIVE = 1
NOT_REACHABLE = 3

_TEST_CARD = Card(
    card_id="setup",
    title="Echo Bot can reach you here",
    blocks=(
        Paragraph("Cards like this one will ask for your decisions. Start the bot and press the button."),
    ),
    buttons=(Button("Try the button", SETUP_TOKEN, ButtonStyle.PRIMARY),),
    fallback="Echo Bot can reach you here. Requests for your decision will look like this.",
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The secrets that were wanted and what they are; `stored` is what was stored before, of all owners."""

    wanted: tuple[Wanted, ...]
    given: Mapping[str, str]
    owner: str
    stored: Mapping[tuple[str, str], str]

    @property
    def new(self) -> dict[str, str]:
        return {
            field: value
            for field, value in self.given.items()
            if value != self.stored.get((self.owner, field))
        }


@dataclass(frozen=True, slots=True)
class Wish:
    """What the person asked for on the command line."""

    config_path: Path | None
    channel: str
    account: str
    allow: tuple[str, ...]
    send_to: str
    options: tuple[str, ...]


def set_up(wish: Wish) -> None:
    """Raises EchoBotError. Exits with 1 for what a platform refuses or lacks, 3 when it is not reached."""
    logging.getLogger().addHandler(logging.NullHandler())  # the SDKs' own words; ours say it all
    manifests = installed_channels()
    manifest = _manifest(wish.channel, manifests)
    helper = load_setup(manifest)
    file = find_config(wish.config_path, os.environ) or user_config_path()
    place = find_place(file if file.exists() else None)
    refuse_inside_bot(place.database)
    before = read_config(file).decode() if file.exists() else ""
    text = with_keys(before, _keys(wish, manifest, before, str(file)), str(file))
    section = _section_of(text, file, wish, manifests)
    settings = account_settings(section, wish.account)
    _require_writable(file)
    try:
        asked = _asked(helper.wanted(settings.options), settings, place, manifest)
        settings = replace(settings, secrets={**settings.secrets, **asked.given})
        _refuse_second(manifest, settings, section, asked.stored)
        report = asyncio.run(_checked(helper, settings, asked))
    except (click.Abort, KeyboardInterrupt):
        click.echo("\nNothing was written.", err=True)
        sys.exit(NEGATIVE)
    _tell(report, manifest)
    _store(text, file, place, channel_owner(manifest.name, settings.account), asked.new)
    is_sent = not wish.send_to or asyncio.run(_send(helper, settings, wish.send_to))
    _say_next(report, file, is_open=bool(_allowed(wish, text, str(file))))
    if report.problems or not is_sent:
        sys.exit(NEGATIVE)


def _manifest(name: str, manifests: tuple[ChannelManifest, ...]) -> ChannelManifest:
    known = {each.name: each for each in manifests if each.setup}
    if name in known:
        return known[name]
    nearest = get_close_matches(name, known, n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else f"there are: {', '.join(sorted(known))}"
    raise ConfigError(f"no channel that can be set up is called {name}; {hint}")


def _keys(wish: Wish, manifest: ChannelManifest, before: str, file: str) -> dict[str, object]:
    if wish.account and not re.fullmatch(ACCOUNT_NAME, wish.account):
        raise ConfigError(f"--account {wish.account}: {must_fit(ACCOUNT_NAME)}")
    head = _section(wish)
    keys: dict[str, object] = {f"{head}.enabled": True}
    for option in wish.options:
        name, found, value = option.partition("=")
        if name in manifest.secrets:
            raise ConfigError(f"--set {name}: it is asked for; secrets never stand on the command line")
        if not found:
            raise ConfigError(f"--set {name} takes KEY=VALUE")
        keys[f"{head}.{name}"] = value
    if wish.allow:
        _check_ids(wish.allow, manifest)
        keys[f"{head}.allow_from"] = list(dict.fromkeys((*_allowed(wish, before, file), *wish.allow)))
    return keys


def _check_ids(allowed: tuple[str, ...], manifest: ChannelManifest) -> None:
    ids = manifest.sender_ids
    for sender in allowed:
        if ids is not None and sender != "*" and not ids.fits(sender):
            raise ConfigError(
                f"--allow {sender}: that is no id on {manifest.title}, where one is {ids.looks_like}; "
                "several take an --allow each. "
                f"Whoever does not know theirs gets in with a code: {command('pair')}"
            )


def _section(wish: Wish) -> str:
    return f"channels.{wish.channel}" + (f".accounts.{wish.account}" if wish.account else "")


def _allowed(wish: Wish, text: str, file: str) -> list[str]:
    """The senders that this text of the file lists for the account."""
    allowed = value_in(parse_yaml(text, file).values, f"{_section(wish)}.allow_from")
    return [str(each) for each in allowed] if isinstance(allowed, list) else []


def _section_of(text: str, file: Path, wish: Wish, manifests: tuple[ChannelManifest, ...]) -> Reach:
    """The channel's section as a start with the new file would read it. Raises ConfigError."""
    examined = examine_content(text.encode(), file, os.environ, manifests)
    if examined.loaded is None:
        raise _as_asked(examined.errors[0], wish)
    return sections(examined.loaded.config.channels)[wish.channel]


def _as_asked(error: ConfigError, wish: Wish) -> ConfigError:
    """An error of a key that was given on the command line names the option, not a line of no file."""
    for option in wish.options:
        name = option.partition("=")[0]
        if error.key == f"{_section(wish)}.{name}":
            return ConfigError(f"--set {name}: {error.reason}")
    return error


def _require_writable(file: Path) -> None:
    """Raises StartError before anything is asked for."""
    try:
        require_replaceable(file)
    except OSError as error:
        raise StartError(
            f"{file} cannot be written: {error.strerror}. Nothing was written; make its folder "
            "writable, or name another file with -c"
        ) from error


def _asked(
    wanted: tuple[Wanted, ...], settings: ChannelSettings, place: Place, manifest: ChannelManifest
) -> _Asked:
    """Raises StartError where other stored values need another key, ConfigError for what is not given."""
    missing = tuple(each for each in wanted if not settings.secrets.get(each.field))
    fields = [each.field for each in missing]
    owner = channel_owner(manifest.name, settings.account)
    stored: dict[tuple[str, str], str] = {}
    if missing and not is_empty(place):
        variables = dict(os.environ)
        stored = run_with(place, partial(stored_already, owner=owner, fields=fields))
        os.environ.update(variables)  # opening takes the key out, and storing needs it once more
    given = {each.field: ask(each, stored.get((owner, each.field), "")) for each in missing}
    return _Asked(missing, given, owner, stored)


def _refuse_second(
    manifest: ChannelManifest,
    settings: ChannelSettings,
    section: Reach,
    stored: Mapping[tuple[str, str], str],
) -> None:
    """Raises StartError where another account has this bot already."""
    bots = OneBotEach()
    for name in accounts(section):
        if name != settings.account:
            other = account_settings(section, name)
            owner = channel_owner(manifest.name, name)
            filled = {
                field: value or stored.get((owner, field), "") for field, value in other.secrets.items()
            }
            bots.claim(manifest, replace(other, secrets=filled))
    bots.claim(manifest, settings)


async def _checked(helper: ChannelSetup, settings: ChannelSettings, asked: _Asked) -> SetupReport:
    try:
        return await helper.check(settings)
    except ChannelError as error:
        click.echo(f"echo-bot: {refusal(error, asked.wanted, asked.given)}", err=True)
        click.echo("Nothing was written.", err=True)
        sys.exit(NEGATIVE if isinstance(error, ChannelFatal) else NOT_REACHABLE)


async def _send(helper: ChannelSetup, settings: ChannelSettings, to: str) -> bool:
    try:
        await helper.send_card(settings, to, _TEST_CARD)
    except ChannelError as error:
        click.echo(
            f"echo-bot: the test card could not be sent: {error}. Everything else is set up: do what is said "
            "below, then run this again",
            err=True,
        )
        return False
    click.echo(f"A test card was sent to {to}.")
    return True


def _tell(report: SetupReport, manifest: ChannelManifest) -> None:
    click.echo(f"{manifest.title} knows this bot as {report.bot}.")
    for problem in report.problems:
        click.echo(f"Missing: {problem}")


def _store(text: str, file: Path, place: Place, owner: str, secrets: Mapping[str, str]) -> None:
    """The tokens first: a configuration without them would only fail."""
    if secrets and not has_key(os.environ, place.loaded.config.credentials.encryption_key_env):
        run_with(place, partial(check_key, owner=owner, fields=tuple(secrets)))
        made = Key.generate().reveal()
        os.environ[KEY_VARIABLE] = made
        click.echo("The tokens are stored encrypted with a new key. Keep it, and give it to the bot:")
        click.echo(f"export {KEY_VARIABLE}={made}")

    async def keep(state: State) -> None:
        await check_key(state, owner=owner, fields=tuple(secrets))
        vault = Vault(state.store.sealed, state.key, utc_now)
        for field, value in secrets.items():
            await vault.set(owner, field, value)
        await state.audit.record("channel_set_up", owner=owner, secrets=sorted(secrets))

    run_with(place, keep)
    try:
        replace_file(file, text)
    except OSError as error:
        raise StartError(f"{file} cannot be written: {error.strerror}. The tokens are stored") from error
    click.echo(f"Written: {file}")


def _say_next(report: SetupReport, file: Path, *, is_open: bool) -> None:
    for step in report.steps:
        click.echo(step)
    if not is_open:
        click.echo(
            f"Nobody is listed yet: let people in with `{command('pair')}`, or run this with --allow ID."
        )
    runs = look_at_bot(file, os.environ, utc_now()).bot is not None
    word = "A bot runs already; stop it and start it again" if runs else "Start"
    click.echo(f"{word}: {command('run')}" + (f" -c {file}" if file != user_config_path() else ""))
