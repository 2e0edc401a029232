"""Signed HTTP mode: requests whose signature over the raw body is Slack's, and fresh."""

from __future__ import annotations

import hmac
import time
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.signature import SignatureVerifier
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from channels.slack.failures import SIGNING_SECRET_FIX

log = structlog.get_logger(__name__)

MAX_BODY_BYTES = 2 * 1024 * 1024
WINDOW_SECONDS = 300
_SIGNED = "v0="

_CLOCK = "The last request that Slack signed was {age} seconds old and so refused: check this machine's clock"
_OTHER_SECRET = (
    "No request was signed with channels.slack.signing_secret so far, but the last one with another. "
    f"If Slack sent it: {SIGNING_SECRET_FIX}"
)

TakeRequest = Callable[[AsyncBoltRequest], Awaitable[BoltResponse]]


class Hook:
    """An ASGI application. While nobody has opened it, it answers 503 and Slack tries again.

    `problem` says why genuine requests are refused, for `status`. Another signature is named there as long as
    nothing genuine came: then the secret may be the wrong one.
    """

    def __init__(self, signing_secret: str) -> None:
        self._verifier = SignatureVerifier(signing_secret)
        self._take: TakeRequest | None = None
        self._knows_slack = False
        self.problem = ""

    def open(self, take: TakeRequest) -> None:
        self._take = take

    def close(self) -> None:
        self._take = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await self._answer(Request(scope, receive))
        except ClientDisconnect:
            return
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
        except (ValueError, TypeError, AttributeError, RecursionError):
            return Response(status_code=400)
        answer = await self._take(bolt)
        return Response(answer.body, answer.status, headers=answer.first_headers_without_set_cookie())

    def _is_slacks(self, body: bytes, request: Request) -> bool:
        timestamp = request.headers.get("x-slack-request-timestamp", "")
        signature = request.headers.get("x-slack-signature", "")
        if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 16 and signature.isascii()):
            return False
        try:
            genuine = self._verifier.generate_signature(timestamp=timestamp, body=body) or ""
        except UnicodeDecodeError:
            return False
        if not hmac.compare_digest(genuine, signature):
            log.info("slack_hook_called_by_a_stranger")
            if signature.startswith(_SIGNED) and not self._knows_slack:
                self.problem = _OTHER_SECRET
            return False
        self._knows_slack = True
        age = round(time.time() - int(timestamp))
        self.problem = _CLOCK.format(age=age) if abs(age) > WINDOW_SECONDS else ""
        if self.problem:
            log.warning("slack_request_out_of_time", age_seconds=age)
        return not self.problem


async def _read(request: Request) -> bytes | None:
    """The raw body; None when it is larger than anything Slack sends."""
    pieces = bytearray()
    async for piece in request.stream():
        pieces += piece
        if len(pieces) > MAX_BODY_BYTES:
            return None
    return bytes(pieces)
