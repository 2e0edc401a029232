"""The credentials of a start: the key from the environment, stored values opened, all of it masked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import SecretStr

from echo_bot.called import command
from echo_bot.channel import ChannelManifest, ChannelSettings
from echo_bot.config.availability import value_at
from echo_bot.config.credentials import missing_key, secret_values
from echo_bot.config.key_variable import empty_variables
from echo_bot.config.loader import Loaded
from echo_bot.config.model import Config
from echo_bot.credentials import Key, Vault, require_key, stored_name, take_key
from echo_bot.errors import StartError
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.storage.protocol import SealedValues

MODEL_OWNER = "models"


@dataclass(frozen=True, slots=True)
class Secrets:
    """`mask` knows every configured and stored value, and the key itself."""

    vault: Vault
    key: Key | None
    mask: SecretMask
    stored: Mapping[tuple[str, str], str]
    warnings: tuple[str, ...]

    def for_channel(self, manifest: ChannelManifest, settings: ChannelSettings) -> ChannelSettings:
        """The settings with stored values where the configuration has none."""
        owner = channel_owner(manifest.name, settings.account)
        filled = {
            field: settings.secrets.get(field) or self.stored.get((owner, field), "")
            for field in {*settings.secrets, *manifest.secrets}
        }
        return replace(settings, secrets=filled)

    def value_of(self, config: Config) -> Callable[[str], str]:
        """Finds a credential by its configuration key: as configured, else as stored, else ""."""

        def find(key: str) -> str:
            owner, _, field = key.rpartition(".")
            configured = value_at(config, key)
            assert isinstance(configured, SecretStr)
            return configured.get_secret_value().strip() or self.stored.get((owner, field), "").strip()

        return find

    async def of_tool(self, name: str) -> dict[str, str]:
        """The values stored for one tool, by field."""
        return {field: value for (owner, field), value in self.stored.items() if owner == f"tool:{name}"}


def channel_owner(name: str, account: str) -> str:
    return f"channel:{name}/{account}" if account else f"channel:{name}"


async def open_secrets(
    loaded: Loaded,
    sealed: SealedValues,
    environ: MutableMapping[str, str],
    clock: Callable[[], datetime],
) -> Secrets:
    """Raises StartError: a malformed key, a wrong key, or credentials without one."""
    config = loaded.config
    variable = config.credentials.encryption_key_env
    empty = empty_variables(environ, variable)
    key = take_key(environ, variable)
    refusal = missing_key(config, key is not None, loaded.yaml_credentials, empty=empty)
    if refusal:
        raise StartError(refusal)
    vault = Vault(sealed, key, clock)
    names = await vault.list()
    require_key(
        key,
        [stored_name(each.owner, each.field) for each in names],
        require_encryption=config.credentials.require_encryption,
        empty=empty,
    )
    stored: dict[tuple[str, str], str] = {}
    for each in names if key is not None else ():
        value = await vault.get(each.owner, each.field)
        if value is not None:
            stored[each.owner, each.field] = value
    known = [*secret_values(config).values(), *stored.values(), *([key.reveal()] if key else [])]
    return Secrets(vault, key, SecretMask(known), stored, _warnings(loaded, key))


def _warnings(loaded: Loaded, key: Key | None) -> tuple[str, ...]:
    if key is None or not loaded.yaml_credentials:
        return ()
    keys = ", ".join(loaded.yaml_credentials)
    stands, them = ("stands", "it") if len(loaded.yaml_credentials) == 1 else ("stand", "them")
    return (
        f"{keys} {stands} readable in {loaded.path}: "
        f"`{command('doctor --move-credentials')}` stores {them} encrypted and removes {them} there",
    )
