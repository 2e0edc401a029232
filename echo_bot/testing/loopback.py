"""A small HTTP/1.1 server on loopback: enough for a bot SDK, with connections that can be dropped."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import unquote

MAX_BODY_BYTES = 60 * 1024 * 1024
_TASKS = "emulator:"
"""What the names of the server's tasks begin with, for tests that look for tasks left behind."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """`path` is percent-decoded and without the query; header names are in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpResponse:
    body: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


Answer = Callable[[HttpRequest], Coroutine[object, object, HttpResponse | None]]
"""Answers one request. None: close the connection without a word."""


class HttpServer:
    """Serves `answer` on a loopback port until `stop`; a request whose client hangs up is cancelled."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.port = 0

    async def start(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Close the port and every connection. Idempotent."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        connections = list(self._connections)
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        await server.wait_closed()

    def drop_connections(self) -> None:
        """Cut every open connection, as a failing network does."""
        for task in list(self._connections):
            task.cancel()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer), name=f"{_TASKS}connection")
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A connection that is cut, in whichever way, concerns nobody but its client.
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while (request := await _read_request(reader)) is not None:
                response = await self._answer_or_hang_up(request, reader)
                if response is None:
                    break
                writer.write(_encode(response))
                await writer.drain()
        writer.transport.abort()

    async def _answer_or_hang_up(
        self, request: HttpRequest, reader: asyncio.StreamReader
    ) -> HttpResponse | None:
        """The answer, or None when the client has left meanwhile (a long poll that was given up)."""
        answer = asyncio.create_task(self._answer(request), name=f"{_TASKS}answer")
        left = asyncio.create_task(reader.read(1), name=f"{_TASKS}hang-up")
        try:
            await asyncio.wait({answer, left}, return_when=asyncio.FIRST_COMPLETED)
            return answer.result() if answer.done() else None
        finally:
            answer.cancel()
            left.cancel()
            await asyncio.gather(answer, left, return_exceptions=True)


async def _read_request(reader: asyncio.StreamReader) -> HttpRequest | None:
    """The next request of the connection; None when it ends. Raises IncompleteReadError when cut."""
    line = await reader.readline()
    if not line.strip():
        return None
    method, target, _ = line.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while (line := await reader.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    path, _, query = target.partition("?")
    body = await _read_body(reader, headers)
    return HttpRequest(method, unquote(path), query, headers, body)


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await reader.readexactly(min(int(headers.get("content-length", "0")), MAX_BODY_BYTES))
    body = bytearray()
    while size := int((await reader.readline()).split(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return bytes(body)


def _encode(response: HttpResponse) -> bytes:
    head = (
        f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}\r\n"
        f"Content-Type: {response.content_type}\r\nContent-Length: {len(response.body)}\r\n"
        + "".join(f"{name}: {value}\r\n" for name, value in response.headers.items())
        + "\r\n"
    )
    return head.encode("latin-1") + response.body
