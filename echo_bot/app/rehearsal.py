"""What a start would refuse and warn of, found out without starting: nothing is served, sent or written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from echo_bot.app.discovery import Discovered, add_own_tools, build_channel
from echo_bot.app.enabled import enabled_channels, title_of
from echo_bot.app.mcp import servers_warnings
from echo_bot.app.model import choose_models, choose_others
from echo_bot.app.one_bot import OneBotEach
from echo_bot.app.scheduling import inspection_warning
from echo_bot.app.secrets import Secrets, open_secrets
from echo_bot.app.setting import utc_now
from echo_bot.app.toolbox import build_executors, sandbox_warning
from echo_bot.config.loader import Loaded
from echo_bot.config.places import tool_files
from echo_bot.config.policy import policy_settings
from echo_bot.config.prompt_file import system_prompt
from echo_bot.credentials import Vault
from echo_bot.errors import EchoBotError, StartError, StorageError
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.storage.protocol import SealedValues
from echo_bot.storage.records import SealedValue
from echo_bot.tools.registry import Registry


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """`refusals` end a start; with `warnings` the part that each names is missing or worth a look.

    `readable`: the warning about credentials that stand in the file. `servers`: why MCP servers cannot begin.
    """

    refusals: tuple[str, ...]
    warnings: tuple[str, ...]
    readable: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()


class NothingStored:
    """The stored values of a data folder that no bot has used yet."""

    async def put(self, value: SealedValue) -> None:
        raise StorageError("a rehearsal stores nothing")

    async def get(self, owner: str, field: str) -> SealedValue | None:
        return None

    async def list(self) -> tuple[SealedValue, ...]:
        return ()

    async def delete(self, owner: str, field: str) -> bool:
        return False


async def rehearse(
    loaded: Loaded, discovered: Discovered, sealed: SealedValues, environ: Mapping[str, str]
) -> Rehearsal:
    """Raises StorageError when the stored credentials cannot be listed."""
    secrets, refusal = await secrets_or_names(loaded, sealed, environ)
    refusals = [refusal] if refusal else []
    warnings = [*loaded.warnings]
    warnings += add_own_tools(Registry(()), tool_files(loaded.config))
    models = (*choose_models(loaded.config, secrets), *choose_others(loaded.config, secrets))
    warnings += dict.fromkeys(each.warning for each in models if each.warning)
    warnings += _channels(loaded, discovered, secrets)
    try:
        system_prompt(loaded.config, loaded.path)
        warnings += await _surroundings(loaded, discovered)
    except EchoBotError as error:
        refusals.append(str(error))
    servers = servers_warnings(loaded.config, environ)
    return Rehearsal(tuple(refusals), tuple(warnings), secrets.warnings, servers)


async def secrets_or_names(
    loaded: Loaded, sealed: SealedValues, environ: Mapping[str, str]
) -> tuple[Secrets, str]:
    """The credentials as a start opens them; else their names alone, and why a start would be refused."""
    try:
        return await open_secrets(loaded, sealed, dict(environ), utc_now), ""
    except StartError as error:
        return await _names_alone(sealed), str(error)


async def _names_alone(sealed: SealedValues) -> Secrets:
    """Which values are stored, where they cannot be opened: enough to see what is missing."""
    stored = {(each.owner, each.field): f"not opened {each.owner}" for each in await sealed.list()}
    return Secrets(Vault(sealed, None, utc_now), None, SecretMask(()), stored, ())


def _channels(loaded: Loaded, discovered: Discovered, secrets: Secrets) -> Iterator[str]:
    bots = OneBotEach()
    for name, account in enabled_channels(loaded.config.channels, terminal=False, headless=True):
        title = title_of(name, account.account)
        manifest = discovered.manifests.get(name)
        if manifest is None:
            missing = "no installed package brings this channel"
            yield f"channel {title}: {discovered.broken.get(name, missing)}"
            continue
        try:
            settings = secrets.for_channel(manifest, account)
            bots.claim(manifest, settings)
            build_channel(manifest, settings)
        except StartError as error:
            yield f"channel {title}: {error}"


async def _surroundings(loaded: Loaded, discovered: Discovered) -> list[str]:
    settings = policy_settings(
        loaded.config, config_path=loaded.path, manifests=tuple(discovered.manifests.values())
    )
    executors = build_executors(loaded.config, settings)
    await executors.probe()
    await executors.close()
    found = (sandbox_warning(loaded.config, executors), inspection_warning(loaded.config, settings))
    return [each for each in found if each]
