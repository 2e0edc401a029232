"""Which servers the SDK talks to. It keeps them in class attributes, so all accounts share them."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from echo_bot.channel import ChannelSettings
from echo_bot.errors import ChannelFatal

OFFICIAL_API = Route.BASE
OFFICIAL_GATEWAY = str(DiscordWebSocket.DEFAULT_GATEWAY)
_API_PATH = "/api/v10"

_in_use: list[Endpoints] = []
"""One entry for each running account: what the SDK's class attributes say is theirs."""


@dataclass(frozen=True, slots=True)
class Endpoints:
    """`gateway` empty: the server of `api` is asked for it, never Discord's own."""

    api: str
    gateway: str

    def claim(self) -> None:
        """Make the SDK use these. Raises ChannelFatal while another account uses others."""
        if any(other != self for other in _in_use):
            raise ChannelFatal(
                "Two Discord accounts name different servers, and discord.py knows only one for a process",
                "Give all accounts the same channels.discord api_base and gateway_url, or run a second bot",
            )
        _in_use.append(self)
        Route.BASE = self.api
        if self.gateway:
            use_gateway(self.gateway)

    def release(self) -> None:
        """Back to Discord's own servers once nobody uses these."""
        if self in _in_use:
            _in_use.remove(self)
        if not _in_use:
            Route.BASE = OFFICIAL_API
            use_gateway(OFFICIAL_GATEWAY)


def use_gateway(url: str) -> None:
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(url)


def endpoints_of(settings: ChannelSettings) -> Endpoints:
    """From any of the forms people write; a trailing slash never matters."""
    api, gateway = settings.api_base.strip().rstrip("/"), settings.options.get("gateway_url", "").strip()
    if not api:
        return Endpoints(OFFICIAL_API, gateway.rstrip("/") or OFFICIAL_GATEWAY)
    if not urlsplit(api).path:
        api += _API_PATH
    return Endpoints(api, gateway.rstrip("/"))
