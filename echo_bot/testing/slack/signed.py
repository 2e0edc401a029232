"""Signed HTTP delivery: each as a request with a signature over its raw body, in the order of sending."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from urllib.parse import urlencode

import httpx

from echo_bot.channel import AsgiApp
from echo_bot.testing.slack.deliveries import Carrier, Delivery, end

PATH = "/slack/events"


class SignedCaller(Carrier):
    """Calls an ASGI application, as the gateway would, or the server at an address.

    `skew_seconds` sets Slack's clock wrong.
    """

    def __init__(self, where: AsgiApp | str, secret: str, clock: Callable[[], float]) -> None:
        super().__init__()
        self.skew_seconds = 0.0
        self._secret, self._clock = secret, clock
        self._target = f"{where}{PATH}" if isinstance(where, str) else f"http://bot.invalid{PATH}"
        transport = None if isinstance(where, str) else httpx.ASGITransport(where)
        self._client = httpx.AsyncClient(transport=transport, trust_env=False)
        self._tasks: set[asyncio.Task[None]] = set()

    def send(self, delivery: Delivery) -> None:
        task = asyncio.create_task(self._call(delivery), name="emulator:call")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        await end(set(self._tasks))
        await self._client.aclose()

    async def _call(self, delivery: Delivery) -> None:
        body, kind = _encoded(delivery)
        headers = {**self.signature(body), "content-type": kind}
        if delivery.attempt:
            headers |= {"x-slack-retry-num": str(delivery.attempt), "x-slack-retry-reason": "http_timeout"}
        delivery.was_sent()
        response = await self.post(body, headers)
        delivery.status = response.status_code
        if response.status_code == 200:
            found = response.json() if response.text.startswith("{") else {}
            delivery.was_acknowledged(found)

    def signature(self, body: bytes) -> dict[str, str]:
        """The headers that prove `body` is Slack's."""
        timestamp = str(int(self._clock() + self.skew_seconds))
        digest = hmac.new(self._secret.encode(), b"v0:" + timestamp.encode() + b":" + body, hashlib.sha256)
        return {"x-slack-request-timestamp": timestamp, "x-slack-signature": f"v0={digest.hexdigest()}"}

    async def post(self, body: bytes, headers: Mapping[str, str]) -> httpx.Response:
        """Send any request, also one that Slack would not."""
        raw = [
            (name.encode(), text.encode() if isinstance(text, str) else text)
            for name, text in headers.items()
        ]
        return await self._client.post(self._target, content=body, headers=raw)


def _encoded(delivery: Delivery) -> tuple[bytes, str]:
    form = "application/x-www-form-urlencoded"
    match delivery.kind:
        case "events_api":
            return json.dumps(delivery.payload).encode(), "application/json"
        case "interactive":
            return urlencode({"payload": json.dumps(delivery.payload)}).encode(), form
        case "slash_commands":
            return urlencode(delivery.payload).encode(), form
