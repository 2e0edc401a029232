"""The webhook: Telegram calls us, and hears 200 once the update is stored."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import structlog
from telegram import Update
from telegram.error import BadRequest, TelegramError

from channels.telegram.client import TelegramBot
from channels.telegram.failures import failure_of
from channels.telegram.intake import Held, Intake
from channels.telegram.reading import ALLOWED_UPDATES, UNREADABLE, readable
from channels.telegram.redaction import without_token
from channels.telegram.standing import Rhythm, Standing
from echo_bot.channel import ChannelSettings
from echo_bot.errors import ChannelError, ChannelFatal, StartError, TemporaryFailure

log = structlog.get_logger(__name__)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_CONNECTIONS = 40
SECRET_FIX = (
    "Make one with `python3 -c 'import secrets; print(secrets.token_urlsafe(32))'` "
    "and set channels.telegram.webhook_secret to it"
)
_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
_SECRET_HEADER = b"x-telegram-bot-api-secret-token"


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where Telegram delivers, and what it proves itself with."""

    url: str
    secret: str = field(repr=False)

    @property
    def path(self) -> str:
        return urlsplit(self.url).path


def webhook_of(settings: ChannelSettings) -> Webhook | None:
    """The configured webhook; None for polling. Raises StartError for one that could not work safely."""
    url = settings.options.get("webhook_url", "").strip()
    secret = settings.secrets.get("webhook_secret", "").strip()
    if not url:
        return None
    parts = urlsplit(url)
    own_server = bool(settings.api_base)
    if not parts.netloc or parts.scheme not in (("https", "http") if own_server else ("https",)):
        raise StartError(
            f"Telegram delivers to https addresses only: channels.telegram.webhook_url is {url!r}"
        )
    if parts.path in ("", "/") or parts.query or parts.fragment:
        raise StartError(
            f"channels.telegram.webhook_url is {url!r}: give it a path of its own and nothing after it, "
            "such as https://bot.example.org/telegram"
        )
    if not secret:
        raise StartError(f"Telegram's webhook has no secret, so that anybody could call it. {SECRET_FIX}")
    if not _SECRET.fullmatch(secret):
        raise StartError(
            "Telegram takes 1–256 letters, digits, _ and - as channels.telegram.webhook_secret. " + SECRET_FIX
        )
    return Webhook(url, secret)


class WebhookReceiver:
    """Sets the webhook and keeps it set; as an ASGI app it takes what Telegram delivers.

    Stopping leaves the webhook, so that updates wait at Telegram until the next start.
    """

    def __init__(
        self,
        bot: TelegramBot,
        intake: Intake,
        webhook: Webhook,
        greeted: Callable[[], None],
        standing: Standing,
        rhythm: Rhythm,
    ) -> None:
        self._bot, self._intake, self._webhook = bot, intake, webhook
        self._on_greeted, self._standing, self._rhythm = greeted, standing, rhythm
        self._is_set = self._known = False
        self._last_error_at: datetime | None = None

    async def connect(self) -> None:
        """Try once to set the webhook. Raises ChannelFatal; anything else is left to `run`."""
        try:
            await self._greet()
        except TelegramError as error:
            failure = self._failure(error)
            self._standing.failed(failure)
            if isinstance(failure, ChannelFatal):
                raise failure from None

    async def run(self) -> None:
        """Set the webhook where it could not be set, and look whether Telegram gets through."""
        while True:
            await asyncio.sleep(self._standing.pause or self._rhythm.webhook_check)
            try:
                await (self._check() if self._is_set else self._greet())
            except TelegramError as error:
                self._standing.failed(self._failure(error))

    async def last_word(self) -> None:
        """Nothing to confirm: each update was answered by itself."""

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        status = await self._take(scope, receive)
        headers = [(b"content-type", b"text/plain"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def _take(self, scope: Message, receive: Receive) -> int:
        """The status to answer with."""
        if not self._is_proven(scope):
            log.info("telegram_webhook_called_by_a_stranger")
            return 401
        if scope["method"] != "POST":
            return 405
        if not self._known:
            return 503
        body = await _read(receive)
        if body is None:
            return 413
        try:
            update = Update.de_json(readable(json.loads(body)), self._bot)
        except UNREADABLE as error:
            log.error("telegram_delivery_unreadable", error=type(error).__name__)
            return 400
        return await self._store(update)

    async def _store(self, update: Update) -> int:
        task = self._intake.submit(update)
        await asyncio.wait({task})
        if task.cancelled():
            return 503
        error = task.exception()
        if error is None:
            self._standing.succeeded(proven=True)
            return 200
        if not isinstance(error, Held):
            said = without_token(str(error), self._bot.token)
            self._standing.failed(TemporaryFailure(f"A message could not be stored: {said}"))
        return 500

    def _is_proven(self, scope: Message) -> bool:
        given = [value for name, value in scope["headers"] if name.lower() == _SECRET_HEADER]
        return len(given) == 1 and hmac.compare_digest(given[0], self._webhook.secret.encode())

    async def _greet(self) -> None:
        await self._bot.initialize()
        self._known = True
        await self._bot.set_webhook(
            self._webhook.url,
            secret_token=self._webhook.secret,
            allowed_updates=ALLOWED_UPDATES,
            max_connections=MAX_CONNECTIONS,
        )
        self._is_set = True
        self._standing.succeeded(proven=True)
        self._on_greeted()

    async def _check(self) -> None:
        info = await self._bot.get_webhook_info()
        if info.url != self._webhook.url:
            log.warning("telegram_webhook_was_changed", url_is_empty=not info.url)
            await self._greet()
            return
        seen, self._last_error_at = self._last_error_at, info.last_error_date
        if info.last_error_date is not None and info.last_error_date != seen and info.pending_update_count:
            self._standing.failed(
                TemporaryFailure(
                    f"Telegram cannot deliver to webhook_url: {info.last_error_message}. "
                    f"{info.pending_update_count} updates wait"
                )
            )
        else:
            self._standing.succeeded(proven=True)

    def _failure(self, error: TelegramError) -> ChannelError:
        if isinstance(error, BadRequest):
            said = without_token(error.message, self._bot.token)
            return TemporaryFailure(f"Telegram does not take channels.telegram.webhook_url: {said}")
        return failure_of(error, self._bot.token)


async def answer_unavailable(send: Send) -> None:
    """What a channel that does not run answers: Telegram keeps the update and comes again."""
    await send({"type": "http.response.start", "status": 503, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


async def _read(receive: Receive) -> bytes | None:
    """The whole body; None when it is larger than any update."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return bytes(body)
