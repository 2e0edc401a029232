"""The path that callers post to: signature first, then the body, then the inbox, then perhaps the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from channels.webhook.inbound import Call, event_of, read_call
from channels.webhook.signing import TIMESTAMP_HEADER, is_signed
from channels.webhook.waiting import Waits
from echo_bot.channel import CommandReply, Port

log = structlog.get_logger(__name__)

MAX_BODY_BYTES = 1024 * 1024

_UNSIGNED = "The signature is missing, wrong, or more than five minutes old."
_STRANGER = "channels.webhook.allow_from does not name this sender."
_REPEATED = "A call with this id was taken before; nothing was done now."
_TOO_LARGE = f"A call has at most {MAX_BODY_BYTES} bytes."


class Hook:
    """An ASGI application. While nobody has opened it, it answers 503."""

    def __init__(self, account: str, secret: str, waits: Waits, now: Callable[[], float] = time.time) -> None:
        self._account, self._secret, self._waits, self._now = account, secret, waits, now
        self._port: Port | None = None
        self.last_call_at: datetime | None = None

    def open(self, port: Port) -> None:
        self._port = port

    def close(self) -> None:
        self._port = None
        self._waits.close()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        try:
            response = await self._answer(Request(scope, receive))
        except ClientDisconnect:
            return
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.method != "POST":
            return _refused(405, "method_not_allowed", "Calls are POST requests.", {"Allow": "POST"})
        if self._port is None:
            return _refused(503, "unavailable", "The bot does not take calls now.", {"Retry-After": "5"})
        body = await _read(request)
        if body is None:
            return _refused(413, "too_large", _TOO_LARGE)
        headers = _single(request)
        if not is_signed(self._secret, headers, body, self._now()):
            log.warning("webhook_call_unsigned", account=self._account)
            return _refused(401, "unauthorized", _UNSIGNED)
        call = read_call(body)
        if isinstance(call, str):
            return _refused(422, "invalid", call)
        signed_at = datetime.fromtimestamp(int(headers[TIMESTAMP_HEADER.lower()]), UTC)
        return await self._hand_over(self._port, call, signed_at)

    async def _hand_over(self, port: Port, call: Call, signed_at: datetime) -> Response:
        event = event_of(call, self._account, signed_at)
        with self._waits.open(event.address, call.id) as wait:
            reply = await port.command(event)
            self.last_call_at = datetime.fromtimestamp(self._now(), UTC)
            if not reply.ok:
                is_known = await port.admits(event.sender)
                return _refusal(reply) if is_known else _refused(403, "forbidden", _STRANGER)
            if reply.repeated:
                return _refused(409, "repeated", _REPEATED)
            if not reply.queued:
                said = [{"text": reply.text, "markdown": True}] if reply.text else []
                return JSONResponse({"id": call.id, "answered": bool(said), "messages": said})
            await wait.for_answer(call.wait_seconds)
            said = [{"text": each.text, "markdown": each.markdown} for each in wait.said.values()]
        status = 200 if wait.is_answered else 202
        return JSONResponse({"id": call.id, "answered": wait.is_answered, "messages": said}, status)


def _refusal(reply: CommandReply) -> Response:
    if reply.busy:
        return _refused(429, "too_many", reply.text, {"Retry-After": "5"})
    return _refused(403, "forbidden", reply.text)


def _refused(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"error": {"code": code, "message": message}}, status, headers=headers)


def _single(request: Request) -> dict[str, str]:
    """The headers that were sent once: of a doubled one nobody knows which was meant."""
    names = [name.decode("latin-1").lower() for name, _ in request.headers.raw]
    return {name: value for name, value in request.headers.items() if names.count(name) == 1}


async def _read(request: Request) -> bytes | None:
    """The raw body; None when it is too large."""
    pieces = bytearray()
    async for piece in request.stream():
        pieces += piece
        if len(pieces) > MAX_BODY_BYTES:
            return None
    return bytes(pieces)
