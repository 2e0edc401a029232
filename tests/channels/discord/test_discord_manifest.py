"""The manifest: what is configured, and that the SDK is loaded for a running channel only."""

from __future__ import annotations

import subprocess
import sys

from channels.discord import MANIFEST
from channels.discord.adapter import DiscordChannel, build
from echo_bot.channel import ChannelSettings, Prompting


def test_it_builds_the_channel_with_what_it_can() -> None:
    channel = build(ChannelSettings(account="work", secrets={"token": "x"}))
    assert isinstance(channel, DiscordChannel)
    assert (channel.name, channel.account) == (MANIFEST.name, "work")
    capabilities = channel.capabilities
    assert (capabilities.max_length, capabilities.prompts) == (2000, Prompting.MODAL)
    assert capabilities.dedups_sends
    assert capabilities.native_commands
    assert capabilities.private_replies
    assert capabilities.receives_files


def test_the_manifest_loads_no_sdk() -> None:
    look = "import sys, channels.discord; print({'discord', 'aiohttp'} & set(sys.modules))"
    told = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, check=True, timeout=60
    )
    assert told.stdout.strip() == "set()"
