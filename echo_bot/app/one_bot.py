"""Two accounts with one token would be one bot that is connected twice, and do everything twice."""

from __future__ import annotations

from echo_bot.channel import ChannelManifest, ChannelSettings
from echo_bot.errors import StartError


class OneBotEach:
    """Remembers which account has which bot of a platform."""

    def __init__(self) -> None:
        self._accounts: dict[tuple[str, str, str], str] = {}

    def claim(self, manifest: ChannelManifest, settings: ChannelSettings) -> None:
        """Raises StartError where another account has this bot already."""
        secret = settings.secrets.get(manifest.identity, "").strip()
        if not secret:
            return
        bot = (manifest.name, settings.api_base, secret)
        first = self._accounts.setdefault(bot, settings.account)
        if first != settings.account:
            raise StartError(
                f"the account {first} has the same {manifest.identity}, and one bot in two accounts would do "
                "everything twice. Give each account a bot of its own, or take one away"
            )
