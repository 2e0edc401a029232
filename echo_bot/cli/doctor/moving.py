"""Credentials out of the configuration file: stored encrypted first, then taken out of the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from echo_bot.cli.credentials import owner_and_field
from echo_bot.cli.guarded import refuse_inside_bot
from echo_bot.cli.state import Place, State, find_place, run_with, utc_now
from echo_bot.config.credentials import environment_name, secret_values
from echo_bot.config.finding import read_config
from echo_bot.config.key_variable import empty_hint, empty_variables, has_key, make_key
from echo_bot.config.rewriting import replace_file, without_keys
from echo_bot.credentials import Vault
from echo_bot.errors import ConfigError, StartError


def move_credentials(config_path: Path | None, environ: Mapping[str, str]) -> Iterator[str]:
    """A line for each credential of the file. Raises EchoBotError; what is not stored is not taken out."""
    place = find_place(config_path)
    refuse_inside_bot(place.database)
    loaded = place.loaded
    movable = {key: each for key in loaded.yaml_credentials if (each := _owner(key, place))}
    if loaded.path is not None and movable:
        _need_key(place, environ)
        text = without_keys(read_config(loaded.path).decode("utf-8-sig"), movable, str(loaded.path))
        _store(place, movable)
        _write(loaded.path, text)
        for key in movable:
            yield f"moved {key} from {loaded.path} to the encrypted store, for the next start"
        yield from _leftovers(text, [secret_values(loaded.config)[key] for key in movable], loaded.path)
        yield "Copies of the file (backups, version control) still hold them: if there are any, renew them."
    for key in loaded.yaml_credentials:
        if key not in movable:
            yield f"left {key}: it cannot be stored; give it by environment as {environment_name(key)}"
    if not loaded.yaml_credentials:
        yield "no credential stands in the configuration file"


def _owner(key: str, place: Place) -> tuple[str, str] | None:
    try:
        return owner_and_field(key, place.manifests)
    except ConfigError:
        return None


def _need_key(place: Place, environ: Mapping[str, str]) -> None:
    variable = place.loaded.config.credentials.encryption_key_env
    if not has_key(environ, variable):
        hint = empty_hint(empty_variables(environ, variable))
        raise StartError(
            f"there is no key to encrypt credentials with{hint}; nothing was moved. Make one and keep it: "
            f"{make_key()}"
        )


def _store(place: Place, movable: Mapping[str, tuple[str, str]]) -> None:
    values = secret_values(place.loaded.config)

    async def keep(state: State) -> None:
        vault = Vault(state.store.sealed, state.key, utc_now, empty=state.empty_key_variables)
        for key, (owner, field) in movable.items():
            await vault.set(owner, field, values[key])
            await state.audit.record("credential_stored", name=key)

    run_with(place, keep)


def _write(path: Path, text: str) -> None:
    try:
        replace_file(path, text)
    except OSError as error:
        raise StartError(
            f"the credentials are stored, but {path} cannot be written ({error.strerror}): delete them there"
        ) from error


def _leftovers(text: str, values: list[str], path: Path) -> Iterator[str]:
    """A value may stand in a comment or under another key as well."""
    for number, line in enumerate(text.splitlines(), 1):
        if any(value in line for value in values):
            yield f"the value of one of them still stands in {path}, line {number}"
