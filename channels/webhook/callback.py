"""Answers to the operator's own endpoint: signed like calls, past the environment's proxy, no redirects."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import httpx

from channels.webhook.signing import signed_headers
from echo_bot.errors import ChannelError, RetryAfter, StartError, TargetGone, TemporaryFailure
from echo_bot.events import Address, OutboundText

_TIMEOUT_SECONDS = 15.0
_UNTOLD_WAIT_SECONDS = 30.0
_GONE = frozenset({404, 405, 410})


def checked_url(url: str) -> str:
    """The callback's address as configured; "" for none. Raises StartError for one that cannot be called."""
    parts = urlsplit(url)
    if url and not (parts.scheme in ("http", "https") and parts.hostname and not parts.fragment):
        raise StartError(
            f"channels.webhook.callback_url is {url!r}: write an http or https address, such as "
            "https://ci.example.org/echo"
        )
    return url


class Callback:
    """Posts what is said. Raises the leaves of ChannelError that the outbox understands."""

    def __init__(self, url: str, secret: str, proxy: str = "", now: Callable[[], float] = time.time) -> None:
        self._url, self._secret, self._now = url, secret, now
        self._client = httpx.AsyncClient(
            trust_env=False, follow_redirects=False, timeout=_TIMEOUT_SECONDS, proxy=proxy or None
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def post(self, address: Address, delivery_id: str, message: OutboundText) -> None:
        body = json.dumps(
            {
                "id": delivery_id,
                "chat": address.chat_id,
                "thread": address.thread_id,
                "reply_to": message.reply_to_id,
                "text": message.text,
                "markdown": message.markdown,
            },
            ensure_ascii=False,
        ).encode("utf-8", "replace")
        headers = {"Content-Type": "application/json", **signed_headers(self._secret, self._now(), body)}
        try:
            response = await self._client.post(self._url, content=body, headers=headers)
        except httpx.HTTPError as error:
            raise TemporaryFailure(f"callback_url cannot be reached: {type(error).__name__}") from None
        if not response.is_success:
            raise _failure(response)


def _failure(response: httpx.Response) -> ChannelError:
    status = response.status_code
    if status == 429 or (status == 503 and "retry-after" in response.headers):
        return RetryAfter(_seconds(response.headers.get("retry-after", "")))
    if status in _GONE:
        return TargetGone(f"callback_url answers {status}")
    if response.is_redirect:
        return TemporaryFailure(f"callback_url answers {status}, and redirects are not followed")
    return TemporaryFailure(f"callback_url answers {status}")


def _seconds(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 6 else _UNTOLD_WAIT_SECONDS
