"""Which channels a start opens: those that the configuration switches on, and the terminal's own chat."""

from __future__ import annotations

from echo_bot.channel import ChannelSettings
from echo_bot.config.channels import Channels, adapter_settings, sections

TERMINAL = "cli"


def enabled_channels(
    channels: Channels, *, terminal: bool, headless: bool
) -> list[tuple[str, ChannelSettings]]:
    """Every enabled account by channel. `terminal`: somebody sits there; `headless`: nobody ever does."""
    found = [
        (name, each) for name, section in sections(channels).items() for each in adapter_settings(section)
    ]
    if channels.cli.enabled is None and terminal:
        found.append((TERMINAL, ChannelSettings(account="")))
    return [(name, each) for name, each in found if name != TERMINAL or not headless]


def title_of(name: str, account: str) -> str:
    return f"{name}/{account}" if account else name
