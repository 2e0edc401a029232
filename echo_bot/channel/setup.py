"""What helps a person to set a channel up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from echo_bot.channel.manifest import ChannelSettings
from echo_bot.events import Card


@dataclass(frozen=True, slots=True)
class Wanted:
    """A secret that an account needs: its YAML key, its name on the platform, and where a person finds it.

    `begins`: how every such secret begins, where the platform has several kinds that people mix up.
    """

    field: str
    label: str
    where: str
    begins: str = ""


@dataclass(frozen=True, slots=True)
class SetupReport:
    """What a platform says of an account: the bot's name there, what is wrong and how to mend it.

    With `problems` the channel would not work, or not wholly; `steps` are for the person, such as a link.
    """

    bot: str
    problems: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()


SETUP_TOKEN = "setup"
"""The token of a test card's button: a press on it is answered and decides nothing."""


class ChannelSetup(Protocol):
    """Helps a person to set an account up, while the channel itself does not run."""

    def wanted(self, options: Mapping[str, str]) -> tuple[Wanted, ...]:
        """The secrets that an account with these options needs."""
        ...

    async def check(self, settings: ChannelSettings) -> SetupReport:
        """Ask the platform by its own calls. Raises ChannelError; ChannelFatal when it refuses a secret."""
        ...

    async def send_card(self, settings: ChannelSettings, to: str, card: Card) -> None:
        """Send one card to a person or chat by its id. Raises ChannelError."""
        ...
