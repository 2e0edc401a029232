"""The channels: how the running bot's are, who may speak there, how platforms reach the bot."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from echo_bot.app.discovery import load_setup
from echo_bot.app.enabled import enabled_channels, title_of
from echo_bot.app.rehearsal import secrets_or_names
from echo_bot.app.secrets import Secrets
from echo_bot.called import command
from echo_bot.channel import ChannelManifest, ChannelSettings
from echo_bot.cli.doctor.finding import Finding, Severity
from echo_bot.cli.doctor.scene import Scene
from echo_bot.cli.sight import MUTE
from echo_bot.config.channels import accounts, is_enabled, sections
from echo_bot.errors import ChannelError, ChannelFatal, EchoBotError
from echo_bot.text.counted import counted

AREA = "channels"
_LOCAL = ("web", "cli")
_STATES = {"connected": Severity.OK, "failed": Severity.BROKEN, "retrying": Severity.WEAK}


def of_bot(scene: Scene) -> Iterator[Finding]:
    """Each channel of the running bot by its own account."""
    if scene.sight.bot is None:
        yield Finding(AREA, Severity.NOTE, "no bot runs here, so no channel is connected", command("run"))
        return
    if silent := scene.sight.silence(scene.now):
        what = f"the running bot has told nothing of itself for {round(silent.total_seconds())} s: {MUTE}"
        fix = (
            f"look at its log and at the room on its disk; restart process {scene.sight.bot.pid} if it hangs"
        )
        yield Finding(AREA, Severity.BROKEN, what, fix)
    found = scene.sight.account.get("channels")
    for channel in found if isinstance(found, list) else ():
        if isinstance(channel, Mapping):
            yield _health(channel)
    seen = scene.sight.seen
    if seen.dead_letters:
        what = f"{counted(seen.dead_letters, 'message')} could not be delivered"
        yield Finding(
            AREA, Severity.WEAK, what, f"{command('outbox list')} shows why, and can send them again"
        )


def of_people(scene: Scene) -> Iterator[Finding]:
    """Channels that are on and hear nobody."""
    paired = scene.sight.seen.paired
    for name, section in sections(scene.config.channels).items():
        for account_name, account in accounts(section).items():
            if name in _LOCAL or not is_enabled(account) or account.allow_from or paired:
                continue
            key = f"channels.{name}" + (f".accounts.{account_name}" if account_name else "")
            fix = f"let somebody in with `{command('pair')}`, or name ids in {key}.allow_from"
            yield Finding(
                AREA, Severity.WEAK, f"{title_of(name, account_name)} is on, and nobody may chat", fix
            )


def of_webhooks(scene: Scene) -> Iterator[Finding]:
    """Addresses that a platform is told to call: can they be reached from outside at all?"""
    gateway = scene.config.gateway
    here = f"http://{gateway.host}:{gateway.port}"
    for name, settings in _enabled(scene):
        title = title_of(name, settings.account)
        url = settings.options.get("webhook_url", "")
        if url:
            host, path = urlsplit(url).hostname or "", urlsplit(url).path
            if is_private(host) and not settings.api_base:
                what = f"{title}: {url} is an address of this network, which the platform cannot call"
                yield Finding(
                    AREA, Severity.WEAK, what, "give it a public name, or use polling: remove the key"
                )
            else:
                what = f"{title} is called at {url}: it has to arrive here as {here}{path}"
                yield Finding(AREA, Severity.NOTE, what, _PROXY)
        elif settings.options.get("mode") == "http" or name == "webhook":
            what = f"{title} is called over HTTP: the public address has to arrive at {here}"
            yield Finding(AREA, Severity.NOTE, what, _PROXY)


_PROXY = "a proxy with TLS passes it on; `doctor --online` asks the platform what it saw, where it tells"


async def of_platforms(scene: Scene) -> list[Finding]:
    """Ask each platform by its own calls. This leaves the computer."""
    async with scene.store() as (_, sealed):
        secrets, refusal = await secrets_or_names(scene.place.loaded, sealed, scene.environ)
    if refusal:
        return [Finding(AREA, Severity.BROKEN, f"no platform was asked: {refusal}")]
    found: list[Finding] = []
    for name, settings in _enabled(scene):
        manifest = scene.discovered.manifests.get(name)
        if manifest is not None and manifest.setup:
            found += await _asked(manifest, settings, secrets)
    return found


async def _asked(manifest: ChannelManifest, settings: ChannelSettings, secrets: Secrets) -> list[Finding]:
    title = title_of(manifest.name, settings.account)
    try:
        report = await load_setup(manifest).check(secrets.for_channel(manifest, settings))
    except ChannelFatal as error:
        return [Finding(AREA, Severity.BROKEN, secrets.mask.mask(f"{title}: {error}"))]
    except (ChannelError, EchoBotError) as error:
        return [Finding(AREA, Severity.WEAK, secrets.mask.mask(f"{title} could not be asked: {error}"))]
    problems = [Finding(AREA, Severity.BROKEN, f"{title}: {each}") for each in report.problems]
    return problems or [
        Finding(AREA, Severity.OK, f"{title}: {manifest.title} knows this bot as {report.bot}")
    ]


def is_private(host: str) -> bool:
    """Is it plainly no public address? Names are not looked up."""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return host == "localhost" or host.endswith((".local", ".localhost", ".internal")) or "." not in host


def _enabled(scene: Scene) -> list[tuple[str, ChannelSettings]]:
    found = enabled_channels(scene.config.channels, terminal=False, headless=True)
    return [(name, each) for name, each in found if name not in _LOCAL]


def _health(channel: Mapping[str, object]) -> Finding:
    state, error = str(channel.get("state", "")), str(channel.get("error", ""))
    said = f"{channel.get('name', '?')} is {state}" + (f": {error}" if error else "")
    return Finding(AREA, _STATES.get(state, Severity.NOTE), said)
