"""Delivery to a webhook: in order within a chat, chats side by side, again until the answer is a success."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from echo_bot.testing.telegram.errors import ApiError
from echo_bot.testing.telegram.updates import Update, UpdateQueue

_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_ANSWER_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Webhook:
    """What setWebhook was called with. Raises ApiError for what Telegram refuses."""

    url: str
    secret: str = ""
    allowed: Collection[str] = ()
    max_connections: int = 40

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
            raise ApiError.bad_request("bad webhook: An HTTPS URL must be provided for webhook")
        if self.secret and not _SECRET.fullmatch(self.secret):
            raise ApiError.bad_request("secret token contains unallowed characters")
        if not 1 <= self.max_connections <= 100:
            raise ApiError.bad_request("max_connections must be between 1 and 100")


class WebhookDelivery:
    """Delivers what waits in the queue. `transport` may lead to an ASGI app instead of the network."""

    def __init__(self, updates: UpdateQueue, retry_seconds: float = 0.05) -> None:
        self._updates, self._retry_seconds = updates, retry_seconds
        self._running: asyncio.Task[None] | None = None
        self._posts: dict[str, asyncio.Task[None]] = {}
        self.transport: httpx.AsyncBaseTransport | None = None
        self.webhook: Webhook | None = None
        self.answers: list[int] = []
        """The status of every delivery, oldest first; 0 when there was no answer."""
        self.last_error, self.last_error_date = "", 0

    async def set(self, webhook: Webhook | None) -> None:
        await self.stop()
        self.webhook = webhook
        self._updates.webhook_url = webhook.url if webhook is not None else ""
        if webhook is not None:
            self._running = asyncio.create_task(self._run(webhook), name="emulator:webhook")

    async def stop(self) -> None:
        running, self._running = self._running, None
        tasks = [*self._posts.values(), *([running] if running is not None else [])]
        self._posts.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, webhook: Webhook) -> None:
        async with httpx.AsyncClient(
            transport=self.transport, trust_env=False, timeout=_ANSWER_SECONDS
        ) as http:
            while True:
                self._updates.changed.clear()
                for update in self._updates.next_by_chat(webhook.allowed):
                    busy = len(self._posts) >= webhook.max_connections
                    if update.chat_key not in self._posts and not busy:
                        post = self._post(http, webhook, update)
                        self._posts[update.chat_key] = asyncio.create_task(post, name="emulator:delivery")
                await self._updates.changed.wait()

    async def _post(self, http: httpx.AsyncClient, webhook: Webhook, update: Update) -> None:
        headers = {"X-Telegram-Bot-Api-Secret-Token": webhook.secret} if webhook.secret else {}
        status, error = 0, "Connection refused"
        try:
            response = await http.post(webhook.url, json=update.to_json(), headers=headers)
            status, error = response.status_code, f"{response.status_code} {response.reason_phrase}"
        except httpx.HTTPError as failure:
            error = str(failure) or type(failure).__name__
        self.answers.append(status)
        if 200 <= status < 300:
            self._updates.confirm(update)
        else:
            self.last_error, self.last_error_date = (
                f"Wrong response from the webhook: {error}",
                int(time.time()),
            )
            await asyncio.sleep(self._retry_seconds)
        self._posts.pop(update.chat_key, None)
        self._updates.changed.set()


class Proxied(httpx.AsyncBaseTransport):
    """Sends every request to `base` instead of its own host, as the reverse proxy before a bot does."""

    def __init__(self, base: str) -> None:
        self._base, self._onward = httpx.URL(base), httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        request.url = request.url.copy_with(
            scheme=self._base.scheme, host=self._base.host, port=self._base.port
        )
        return await self._onward.handle_async_request(request)

    async def aclose(self) -> None:
        await self._onward.aclose()
