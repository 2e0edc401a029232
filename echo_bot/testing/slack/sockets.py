"""Socket Mode: envelopes to the newest connection, acknowledgements back, and ways to end it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
from collections import deque

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from echo_bot.testing.slack.deliveries import Carrier, Delivery, end
from echo_bot.testing.slack.world import APP


class SocketServer(Carrier):
    """Accepts whoever comes with a ticket. Events lost with a connection come again on the next."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = 0
        self._server: Server | None = None
        self._tickets: set[str] = set()
        self._open: list[ServerConnection] = []
        self._retired: set[ServerConnection] = set()
        self._waiting: deque[Delivery] = deque()
        self._sent: dict[ServerConnection, list[Delivery]] = {}
        self._work = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.refuses = False

    async def start(self) -> None:
        self._server = await serve(
            self._serve, "127.0.0.1", 0, ping_interval=None, close_timeout=0.1, logger=_quiet()
        )
        self._tasks.add(asyncio.create_task(self._send_all(), name="emulator:sockets"))

    async def stop(self) -> None:
        await end(self._tasks)
        if self._server is not None:
            self.drop()
            self._server.close()
            await self._server.wait_closed()

    def new_url(self) -> str:
        """What apps.connections.open gives: good for one connection."""
        assert self._server is not None
        ticket = secrets.token_hex(8)
        self._tickets.add(ticket)
        port = next(iter(self._server.sockets)).getsockname()[1]
        return f"ws://127.0.0.1:{port}/link/?ticket={ticket}&app_id={APP}"

    @property
    def open_connections(self) -> tuple[ServerConnection, ...]:
        """Also those that have been told to go."""
        return tuple(self._open)

    def send(self, delivery: Delivery) -> None:
        self._waiting.append(delivery)
        self._work.set()

    def drop(self) -> None:
        """Cut every connection, as a failing network does."""
        for connection in list(self._open):
            connection.transport.abort()

    def freeze(self) -> None:
        """The connections stay open, but nothing that the bot sends is read, so that pings go unanswered."""
        for connection in self._open:
            connection.transport.pause_reading()

    def tell_to_go(self, reason: str) -> None:
        """Send a disconnect envelope: no more deliveries on these connections."""
        goodbye = json.dumps({"type": "disconnect", "reason": reason, "debug_info": {"host": "emulator"}})
        for connection in self._open:
            if connection not in self._retired:
                self._retired.add(connection)
                self._tasks.add(asyncio.create_task(connection.send(goodbye), name="emulator:goodbye"))

    async def _serve(self, connection: ServerConnection) -> None:
        ticket = (
            (connection.request.path if connection.request else "").partition("ticket=")[2].partition("&")[0]
        )
        if ticket not in self._tickets or self.refuses:
            await connection.close(1008, "bad ticket")
            return
        self._tickets.discard(ticket)
        with contextlib.suppress(ConnectionClosed):
            await connection.send(json.dumps(self._hello()))
            self._open.append(connection)
            self._sent[connection] = []
            self.opened += 1
            self._work.set()
            async for text in connection:
                self._acknowledge(connection, json.loads(text))
        self._forget(connection)

    def _hello(self) -> dict[str, object]:
        return {
            "type": "hello",
            "num_connections": len(self._open) + 1,
            "connection_info": {"app_id": APP},
            "debug_info": {"host": "emulator", "approximate_connection_time": 3600},
        }

    def _acknowledge(self, connection: ServerConnection, said: dict[str, object]) -> None:
        for delivery in list(self._sent.get(connection, ())):
            if delivery.envelope_id == said.get("envelope_id"):
                self._sent[connection].remove(delivery)
                answer = said.get("payload")
                delivery.was_acknowledged(answer if isinstance(answer, dict) else {})

    def _forget(self, connection: ServerConnection) -> None:
        if connection in self._open:
            self._open.remove(connection)
        self._retired.discard(connection)
        lost = [one for one in self._sent.pop(connection, []) if one.kind == "events_api"]
        for delivery in reversed(lost):
            delivery.attempt += 1
            self._waiting.appendleft(delivery)
        self._work.set()

    async def _send_all(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            while self._waiting and (connection := self._newest()) is not None:
                delivery = self._waiting.popleft()
                self._sent[connection].append(delivery)
                delivery.was_sent()
                with contextlib.suppress(ConnectionClosed):
                    await connection.send(json.dumps(_envelope(delivery)))

    def _newest(self) -> ServerConnection | None:
        usable = [one for one in self._open if one not in self._retired]
        return usable[-1] if usable else None


def _quiet() -> logging.Logger:
    """The server's own log would mix with that of the bot under test."""
    logger = logging.getLogger("echo_bot.testing.slack")
    logger.setLevel(logging.WARNING)
    return logger


def _envelope(delivery: Delivery) -> dict[str, object]:
    envelope: dict[str, object] = {
        "envelope_id": delivery.envelope_id,
        "type": delivery.kind,
        "payload": delivery.payload,
        "accepts_response_payload": delivery.kind != "events_api",
    }
    if delivery.kind == "events_api":
        reason = "timeout" if delivery.attempt else ""
        envelope |= {"retry_attempt": delivery.attempt, "retry_reason": reason}
    return envelope
