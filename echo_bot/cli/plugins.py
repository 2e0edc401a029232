"""The installed channels, for verbs: a broken plugin is told of and stops nothing."""

from __future__ import annotations

import click

from echo_bot.app.discovery import discover_channels
from echo_bot.channel import ChannelManifest


def installed_channels() -> tuple[ChannelManifest, ...]:
    """The manifests of all channels that load, with a line on stderr for each that does not."""
    discovered = discover_channels()
    for sentence in discovered.broken.values():
        click.echo(f"echo-bot: {sentence}", err=True)
    return tuple(discovered.manifests.values())
