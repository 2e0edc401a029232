"""The SDK's bot from our settings: which server, through which proxy, at which pace, with which timeouts."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Callable, Coroutine
from datetime import timedelta
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import httpx
from telegram.ext import AIORateLimiter, ExtBot
from telegram.request import HTTPXRequest

from channels.telegram.failures import TOKEN_FIX, LeftOut, ServerFailed
from channels.telegram.reading import readable, receipt
from echo_bot.channel import ChannelSettings
from echo_bot.channel.clock import PlatformClock
from echo_bot.errors import ChannelFatal

OFFICIAL_API = "https://api.telegram.org"
_UNPACED = frozenset({"sendChatAction", "setMessageReaction", "answerCallbackQuery"})
DRAFT = 1
"""As `rate_limit_args`: what is sent shows how something grows and may be left out."""

_KEPT_FOR_FINALS = 8
_UNTIL_LESS_BUSY = timedelta(seconds=3)
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

_CONNECTIONS = 8
"""Telegram takes thirty messages a second from a bot, and answers within some hundredths of one."""

TelegramBot = ExtBot[int]

# The SDK's own switch to times as timedelta; without it every 429 comes with a deprecation warning.
os.environ.setdefault("PTB_TIMEDELTA", "true")


class Pace(AIORateLimiter):
    """Telegram's limits of messages a second and a minute; small signs and answers neither wait nor count.

    A draft never waits, and in a group it leaves room for what must arrive.
    """

    async def process_request(
        self,
        callback: Callable[..., Coroutine[Any, Any, Any]],
        args: Any,
        kwargs: dict[str, Any],
        endpoint: str,
        data: dict[str, Any],
        rate_limit_args: int | None,
    ) -> Any:
        if endpoint in _UNPACED:
            return await callback(*args, **kwargs)
        if rate_limit_args == DRAFT:
            self._refuse_where_busy(int(data["chat_id"]))
            rate_limit_args = None
        return await super().process_request(callback, args, kwargs, endpoint, data, rate_limit_args)

    def _refuse_where_busy(self, chat_id: int) -> None:
        """Raises LeftOut for a group of whose minute little is left."""
        if chat_id < 0 and not self._get_group_limiter(chat_id).has_capacity(_KEPT_FOR_FINALS):
            raise LeftOut(_UNTIL_LESS_BUSY)


class Turnstile(HTTPXRequest):
    """Lets so many calls through at a time as there are connections.

    Calls that wait in the pool, and idle connections, are all looked at for each call that comes or ends.
    """

    def __init__(self, connections: int, **more: Any) -> None:
        super().__init__(connection_pool_size=connections, **more)
        self._free = asyncio.Semaphore(connections)

    async def do_request(self, *args: Any, **more: Any) -> tuple[int, bytes]:
        async with self._free:
            status, payload = await super().do_request(*args, **more)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise ServerFailed(status)
        return status, payload

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        answer = HTTPXRequest.parse_json_payload(payload)
        if isinstance(answer, dict) and "result" in answer:
            answer["result"] = receipt(answer["result"])
        return answer


class UpdatesRequest(Turnstile):
    """Fetches updates. One that the SDK cannot read would otherwise keep all others out for good."""

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        answer = HTTPXRequest.parse_json_payload(payload)
        if isinstance(answer, dict) and isinstance(answer.get("result"), list):
            answer["result"] = [readable(each) for each in answer["result"]]
        return answer


def open_bot(settings: ChannelSettings, clock: PlatformClock | None = None) -> TelegramBot:
    """A bot that is not connected yet, and tells `clock` the dates of Telegram's answers.

    Raises ChannelFatal for a missing token or an unusable proxy.
    """
    token = settings.secrets.get("token", "").strip()
    if not token:
        raise ChannelFatal("Telegram has no bot token", TOKEN_FIX)
    api, files = api_urls(settings.api_base, settings.options.get("api_file_base", ""))
    transport = _transport(settings.proxy, api, clock or PlatformClock())
    try:
        return ExtBot(
            token,
            base_url=api,
            base_file_url=files,
            request=Turnstile(_CONNECTIONS, **transport),
            get_updates_request=UpdatesRequest(2, **transport),
            rate_limiter=Pace(max_retries=0),
        )
    except ValueError:
        # Its text may hold the proxy's password.
        raise ChannelFatal(
            "The proxy of Telegram is not an address", "Write channels.telegram.proxy as http://host:port"
        ) from None
    except RuntimeError:
        raise ChannelFatal(
            "A SOCKS proxy needs a package that is not installed",
            "Run `pip install 'python-telegram-bot[socks]'`, or set channels.telegram.proxy to http://…",
        ) from None


def api_urls(api_base: str, api_file_base: str) -> tuple[str, str]:
    """The prefixes before the token, of methods and of files, from any of the forms people write."""
    base = _without_tail(api_base) or OFFICIAL_API
    return f"{base}/bot", f"{_without_tail(api_file_base) or f'{base}/file'}/bot"


def _without_tail(url: str) -> str:
    return url.strip().rstrip("/").removesuffix("/bot").rstrip("/")


def _tls(api: str) -> ssl.SSLContext:
    """Loading the authorities takes a tenth of a second; a server without TLS needs none and gets none."""
    is_plain = urlsplit(api).scheme == "http"
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else httpx.create_ssl_context()


def _transport(proxy: str, api: str, clock: PlatformClock) -> dict[str, Any]:
    # A proxy from the environment is for the outside: a Bot API server on this machine is asked directly.
    own_machine = urlsplit(api).hostname in _LOOPBACK

    async def ended(answer: httpx.Response) -> None:
        if answer.status_code == HTTPStatus.OK:
            clock.heard(answer.headers.get("Date", ""))

    return {
        "read_timeout": 10.0,
        "connect_timeout": 5.0,
        "pool_timeout": 5.0,
        "proxy": proxy or None,
        "httpx_kwargs": {
            "trust_env": not own_machine,
            "verify": _tls(api),
            "event_hooks": {"response": [ended]},
        },
    }
