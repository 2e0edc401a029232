"""The outermost layers: refuse foreign hosts, foreign origins and huge bodies; add security headers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from echo_bot.channel import AsgiApp
from echo_bot.gateway.origin import Names

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

# Referrer-Policy is same-origin and not no-referrer: under the latter browsers send "Origin: null" with the
# bot's own forms. Other sites get no referrer under either.
SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; base-uri 'none'; frame-ancestors 'none'"),
)
"""Sent with every answer, unless the answer sets the same header itself."""

API_PREFIX = "/api/v1"
"""Below it programs call: refusals are JSON there."""

_CODES = {403: "forbidden", 413: "too_large"}

HOST_REFUSED = (
    "This is not one of the bot's addresses. Use the address it printed at start, "
    "or add this host name to gateway.allowed_hosts and restart."
)
ORIGIN_REFUSED = (
    "The request came from another web page and was refused. "
    "If that page is yours, add its origin to gateway.allowed_origins and restart."
)


class BodyTooLarge(Exception):
    """Raised to the reader of a body that grew over the limit."""


class Edge:
    """An ASGI middleware for Host and Origin. HTTP refusals are plain text, a refused WebSocket gets 403."""

    def __init__(self, app: AsgiApp, names: Names) -> None:
        self._app, self._names = app, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] in ("http", "websocket") else ""
        if refusal:
            await _refuse(scope, send, 403, refusal)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> str:
        hosts, origins = header_values(scope, b"host"), header_values(scope, b"origin")
        scheme = scope.get("scheme", "http")
        if len(hosts) != 1 or not self._names.knows_host(hosts[0], scheme):
            return HOST_REFUSED
        needs_origin = scope["type"] == "websocket" or scope["method"] not in _SAFE_METHODS
        # A browser always sends Origin here; a program that sends none carries no one else's cookie.
        if needs_origin and any(not self._names.knows_origin(o, hosts[0], scheme) for o in origins):
            return ORIGIN_REFUSED
        return ""


class BodyLimit:
    """An ASGI middleware: no body over the limit goes further in, every answer has security headers."""

    def __init__(self, app: AsgiApp, max_body_bytes: int) -> None:
        self._app, self._max_body_bytes = app, max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif self._declares_too_much(scope):
            await _refuse(scope, send, 413, self._too_large())
        else:
            await self._serve(scope, receive, send)

    def _declares_too_much(self, scope: Scope) -> bool:
        return any(
            not value.isdigit() or int(value) > self._max_body_bytes
            for value in header_values(scope, b"content-length")
        )

    def _too_large(self) -> str:
        return f"The body is larger than gateway.max_body_mb allows ({self._max_body_bytes} bytes)."

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        seen = 0
        started = refused = False

        async def counted_receive() -> Message:
            nonlocal seen, refused
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._max_body_bytes:
                if not started:
                    refused = True
                    await _refuse(scope, send, 413, self._too_large())
                raise BodyTooLarge
            return message

        async def guarded_send(message: Message) -> None:
            nonlocal started
            if refused:
                return  # the framework's own answer to BodyTooLarge comes after ours
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": with_security_headers(message.get("headers", ()))}
            await send(message)

        try:
            await self._app(scope, counted_receive, guarded_send)
        except BodyTooLarge:
            if not refused:
                raise


def header_values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def with_security_headers(headers: Any) -> list[tuple[bytes, bytes]]:
    present = list(headers)
    names = {name.lower() for name, _ in present}
    return present + [header for header in SECURITY_HEADERS if header[0] not in names]


async def _refuse(scope: Scope, send: Send, status: int, sentence: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": sentence[:120]})
        return
    kind, body = b"text/plain; charset=utf-8", f"{sentence}\n"
    if scope["path"].startswith(f"{API_PREFIX}/"):
        code = _CODES[status]
        kind, body = b"application/json", json.dumps({"error": {"code": code, "message": sentence}})
    headers = with_security_headers([(b"content-type", kind)])
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})
