"""Signed HTTP mode: requests whose signature over the raw body is Slack's, and fresh."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.signature import SignatureVerifier
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

MAX_BODY_BYTES = 2 * 1024 * 1024

TakeRequest = Callable[[AsyncBoltRequest], Awaitable[BoltResponse]]


class Hook:
    """An ASGI application. While nobody has opened it, it answers 503 and Slack tries again."""

    def __init__(self, signing_secret: str) -> None:
        self._verifier = SignatureVerifier(signing_secret)
        self._take: TakeRequest | None = None

    def open(self, take: TakeRequest) -> None:
        self._take = take

    def close(self) -> None:
        self._take = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response = await self._answer(request)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.method != "POST":
            return Response(status_code=405, headers={"Allow": "POST"})
        if self._take is None:
            return Response(status_code=503, headers={"Retry-After": "5"})
        body = await _read(request)
        if body is None:
            return Response(status_code=413)
        if not self._is_slacks(body, request):
            return Response(status_code=401)
        try:
            bolt = AsyncBoltRequest(
                body=body.decode(), query=request.url.query, headers=dict(request.headers.items())
            )
        except ValueError:
            return Response(status_code=400)
        answer = await self._take(bolt)
        return Response(answer.body, answer.status, headers=answer.first_headers_without_set_cookie())

    def _is_slacks(self, body: bytes, request: Request) -> bool:
        timestamp = request.headers.get("x-slack-request-timestamp", "")
        signature = request.headers.get("x-slack-signature", "")
        if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 16 and signature.isascii()):
            return False
        try:
            return bool(self._verifier.is_valid(body, timestamp, signature))
        except UnicodeDecodeError:
            return False


async def _read(request: Request) -> bytes | None:
    """The raw body; None when it is larger than anything Slack sends."""
    pieces = bytearray()
    async for piece in request.stream():
        pieces += piece
        if len(pieces) > MAX_BODY_BYTES:
            return None
    return bytes(pieces)
