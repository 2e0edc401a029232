"""The SDK's clients from our settings: which server, through which proxy, with which timeouts."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from echo_bot.channel import ChannelSettings
from echo_bot.channel.clock import PlatformClock
from echo_bot.errors import ChannelFatal

OFFICIAL_API = "https://slack.com/api/"
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_TIMEOUT = aiohttp.ClientTimeout(total=300, sock_connect=10, sock_read=30)
"""Of every call: in a session of ours the SDK leaves them to us. An upload may take long, its answer not."""


@dataclass(frozen=True, slots=True)
class Self:
    """The bot as Slack knows it."""

    user_id: str
    bot_id: str
    team_id: str


class Clients:
    """The Web API, and answers to response URLs, over one HTTP session. Made in a running loop.

    Raises ChannelFatal for a proxy that the SDK cannot use.
    """

    def __init__(self, settings: ChannelSettings, logger: logging.Logger) -> None:
        require_http_proxy(settings.proxy)
        self._logger = logger
        self.clock = PlatformClock()
        self.session = aiohttp.ClientSession(
            timeout=_TIMEOUT, trace_configs=[_dates_of(api_url(settings.api_base), self.clock)]
        )
        self.web = self.web_client(settings, settings.secrets.get("bot_token", "").strip())
        self.proxy = self.web.proxy
        self.app_token = settings.secrets.get("app_token", "").strip()

    def web_client(self, settings: ChannelSettings, token: str | None) -> AsyncWebClient:
        """A client that tries once: the core repeats what failed, and knows what must not be repeated."""
        base = api_url(settings.api_base)
        web = AsyncWebClient(
            token,
            base_url=base,
            proxy=settings.proxy or None,
            session=self.session,
            logger=self._logger,
            retry_handlers=[],
        )
        if not settings.proxy and urlsplit(base).hostname in _LOOPBACK:
            # A proxy from the environment is for the outside: a server on this machine is asked directly.
            web.proxy = None
        return web

    async def respond(self, response_url: str, message: Mapping[str, Any]) -> bool:
        """Answer an interaction. False: Slack did not take it. Raises the SDK's and the session's errors."""
        webhook = AsyncWebhookClient(
            response_url,
            session=self.session,
            logger=self._logger,
            retry_handlers=[],
        )
        webhook.proxy = self.proxy
        return (await webhook.send_dict(dict(message))).status_code == 200

    async def close(self) -> None:
        await self.session.close()


def _dates_of(base: str, clock: PlatformClock) -> aiohttp.TraceConfig:
    """Tells `clock` the dates of the Web API's answers."""

    async def ended(_: object, __: object, request: aiohttp.TraceRequestEndParams) -> None:
        if str(request.url).startswith(base):
            clock.heard(request.response.headers.get("Date", ""))

    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(ended)
    return trace


def require_http_proxy(proxy: str) -> None:
    """Raises ChannelFatal, without the address, which may hold a password."""
    try:
        parts = urlsplit(proxy)
        usable = not proxy or (parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0)
    except ValueError:
        usable = False
    if not usable:
        raise ChannelFatal(
            "The proxy of Slack is not an HTTP proxy", "Write channels.slack.proxy as http://host:port"
        )


def api_url(api_base: str) -> str:
    """The Web API's address with its closing slash."""
    return f"{api_base.strip().rstrip('/') or OFFICIAL_API.rstrip('/')}/"
