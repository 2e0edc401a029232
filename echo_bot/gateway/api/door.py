"""The door of the HTTP API: who calls, how often, under which request id; nothing unexpected gets out."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from uuid import uuid4

import structlog

from echo_bot.channel import AsgiApp
from echo_bot.gateway.api.failures import INTERNAL, NO_TOKEN, NO_TOKENS, TOO_MANY, error_json
from echo_bot.gateway.edge import Message, Receive, Scope, Send, header_values
from echo_bot.gateway.tokens import Caller, Tokens
from echo_bot.inbox.rate import RateLimit

log = structlog.get_logger(__name__)

OPEN_PATH = "/openapi.json"
_REQUEST_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_PER_MINUTE, _BURST = 600, 120
_MISSES_PER_MINUTE, _MISSES = 30, 10
_BEARER = re.compile(r"[Bb]earer +(\S+)")

Headers = list[tuple[bytes, bytes]]


class Door:
    """An ASGI middleware. Behind it `scope["state"]["caller"]` is the `Caller`."""

    def __init__(self, app: AsgiApp, tokens: Tokens, *, has_limits: bool) -> None:
        self._app, self._tokens = app, tokens
        self._calls = RateLimit(_PER_MINUTE if has_limits else 0, _BURST, frozenset())
        self._misses = RateLimit(_MISSES_PER_MINUTE if has_limits else 0, _MISSES, frozenset())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": "there is no WebSocket here"})
        if scope["type"] != "http":
            return
        request_id = _request_id(scope)
        started = False

        async def named_send(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
                message = {**message, "headers": headers}
            await send(message)

        try:
            await self._serve(scope, receive, named_send, request_id)
        except Exception as error:  # the outer edge: the caller learns nothing of the fault itself
            log.exception("api_failed", request=request_id, path=scope["path"], error=type(error).__name__)
            if not started:
                await _answer(named_send, 500, "internal", INTERNAL)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, request_id: str) -> None:
        if not self._tokens:
            await _answer(send, 403, "closed", NO_TOKENS)
            return
        if scope["path"] == scope.get("root_path", "") + OPEN_PATH:
            await self._app(scope, receive, send)
            return
        caller = self._tokens.caller(_presented(scope))
        if caller is None:
            await self._turn_away(scope, send, request_id)
            return
        if not self._calls.take(caller.name, time.monotonic()):
            await _answer(send, 429, "too_many", TOO_MANY, [(b"retry-after", b"5")])
            return
        log.debug("api_called", request=request_id, caller=caller.name, path=scope["path"])
        state = {**scope.get("state", {}), "caller": caller}
        await self._app({**scope, "state": state}, receive, send)

    async def _turn_away(self, scope: Scope, send: Send, request_id: str) -> None:
        """No holder of a token is slowed by those who guess."""
        host = str((scope.get("client") or ("", 0))[0])
        passes = self._misses.take(host, time.monotonic())
        log.warning("api_token_refused", request=request_id, client=host)
        if passes:
            await _answer(send, 401, "unauthorized", NO_TOKEN, [(b"www-authenticate", b"Bearer")])
        else:
            await _answer(send, 429, "too_many", TOO_MANY, [(b"retry-after", b"60")])


def caller_of(scope: Scope) -> Caller:
    """Who calls, behind the door."""
    caller = scope["state"]["caller"]
    assert isinstance(caller, Caller)
    return caller


def _presented(scope: Scope) -> str:
    sent = header_values(scope, b"authorization")
    found = _BEARER.fullmatch(sent[0]) if len(sent) == 1 else None
    return found.group(1) if found else ""


def _request_id(scope: Scope) -> str:
    """The caller's own if it is plain, else a new one."""
    sent = header_values(scope, b"x-request-id")
    return sent[0] if len(sent) == 1 and _REQUEST_ID.fullmatch(sent[0]) else uuid4().hex[:16]


async def _answer(
    send: Send, status: int, code: str, message: str, more: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    headers: Headers = [(b"content-type", b"application/json"), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(error_json(code, message)).encode()})
