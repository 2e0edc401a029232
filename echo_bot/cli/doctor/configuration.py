"""The configuration: what a start refuses and warns of, credentials that stand readable, the key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from echo_bot.app.rehearsal import rehearse
from echo_bot.called import command
from echo_bot.cli.credentials import owner_and_field
from echo_bot.cli.doctor.finding import Finding, Severity
from echo_bot.cli.doctor.scene import Scene
from echo_bot.config.checks import NO_TENANTS
from echo_bot.config.credentials import environment_name
from echo_bot.config.finding import user_config_path
from echo_bot.config.key_variable import has_key
from echo_bot.config.loader import Examined
from echo_bot.errors import ConfigError

AREA = "configuration"
CREDENTIALS = "credentials"


def of_file(examined: Examined) -> Iterator[Finding]:
    """What is wrong with the file and the variables themselves."""
    for error in examined.errors:
        yield Finding(AREA, Severity.BROKEN, str(error))
    if examined.path is None:
        looked_for = f"no configuration file (looked for {user_config_path()}): the defaults hold"
        yield Finding(AREA, Severity.OK, looked_for)
    elif not examined.errors:
        yield Finding(AREA, Severity.OK, f"{examined.path} has no errors")


async def of_start(scene: Scene) -> list[Finding]:
    """What a start would refuse or warn of beyond the file. Raises StorageError."""
    async with scene.store() as (_, sealed):
        said = await rehearse(scene.place.loaded, scene.discovered, sealed, scene.environ)
    found = [Finding(AREA, Severity.BROKEN, sentence) for sentence in said.refusals]
    for sentence in said.warnings:
        severity = Severity.NOTE if sentence in NO_TENANTS else Severity.WEAK
        found.append(Finding(AREA, severity, sentence))
    return [*found, *_credentials(scene)]


def _credentials(scene: Scene) -> Iterator[Finding]:
    loaded = scene.place.loaded
    for key in loaded.yaml_credentials:
        yield Finding(
            CREDENTIALS, Severity.WEAK, f"{key} stands readable in {loaded.path}", _way_out(scene, key)
        )
    if loaded.path is not None and loaded.yaml_credentials and _is_open(loaded.path):
        fix = f"chmod 600 {loaded.path}"
        yield Finding(
            CREDENTIALS, Severity.WEAK, f"{loaded.path} holds credentials and others may read it", fix
        )
    stored = scene.sight.seen.stored_credentials
    if has_key(scene.environ, loaded.config.credentials.encryption_key_env):
        yield Finding(CREDENTIALS, Severity.OK, f"the credential key is set; stored values: {stored}")
    elif not stored and not loaded.yaml_credentials:
        yield Finding(CREDENTIALS, Severity.OK, "no credential is stored, so no key is needed")
    if not loaded.config.credentials.require_encryption:
        yield Finding(
            CREDENTIALS,
            Severity.WEAK,
            "credentials.require_encryption is false: credentials may stand readable without a warning",
            "remove that key from the configuration",
        )


def _way_out(scene: Scene, key: str) -> str:
    if is_storable(key, scene):
        return f"{command('doctor --move-credentials')} stores it encrypted and removes it from the file"
    return f"give it by environment as {environment_name(key)} and remove it from the file"


def is_storable(key: str, scene: Scene) -> bool:
    """Would the bot read this value from the store, were it there?"""
    try:
        owner_and_field(key, scene.place.manifests)
    except ConfigError:
        return False
    return True


def _is_open(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o077)
