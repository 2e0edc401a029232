"""A CONNECT proxy on loopback for a program that does its own networking: hosts are judged, then dialled.

The program's TLS goes through unread, so its certificates are checked by itself; where it may connect is
decided here, by the same rules and with the same pinning as for the guarded client.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import secrets
from contextlib import suppress
from types import TracebackType

import httpcore

from echo_bot.net.pinned import AddressRule, PinningBackend
from echo_bot.net.refusal import NetRefused, refuse
from echo_bot.net.resolve import Resolver, SystemResolver
from echo_bot.policy.decision import Finding
from echo_bot.policy.guards.network import NetworkRules, judge_address, judge_target, parse_url

_HEAD_SECONDS = 10.0
_CONNECT_SECONDS = 10.0
_PIECE = 64 * 1024
_USER = "tunnel"
_AUTH = "proxy-authorization"


class GuardedTunnel:
    """Open while it is entered. `max_bytes` bounds what comes back through all its connections together.

    `refused` is the first refusal, for the sentence about a program that failed.
    """

    def __init__(
        self,
        rules: NetworkRules,
        *,
        max_bytes: int,
        resolver: Resolver | None = None,
        rule: AddressRule = judge_address,
    ) -> None:
        self._rules, self._left = rules, max_bytes
        self._max_bytes = max_bytes
        self._backend = PinningBackend(resolver or SystemResolver(), rule)
        self._token = secrets.token_urlsafe(24)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.refused: Finding | None = None
        self.url = ""

    async def __aenter__(self) -> GuardedTunnel:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=16 * 1024)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://{_USER}:{self._token}@127.0.0.1:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        for connection in list(self._connections):
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer), name="guarded tunnel")
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._connect(reader, writer)
        except NetRefused as refused:
            self.refused = self.refused or refused.finding
            await _say(writer, "403 Forbidden")
        except (OSError, httpcore.ConnectError, httpcore.ConnectTimeout, TimeoutError):
            await _say(writer, "502 Bad Gateway")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            await _say(writer, "400 Bad Request")
        finally:
            writer.close()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_HEAD_SECONDS):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        request, *lines = head.split("\r\n")
        method, place, _ = request.split(" ", 2)
        if not self._is_ours(lines):
            await _say(writer, "407 Proxy Authentication Required", 'Proxy-Authenticate: Basic realm="x"')
            return
        if method != "CONNECT":
            await _say(writer, "405 Method Not Allowed")
            return
        target = parse_url(f"https://{place}/")
        if isinstance(target, Finding):
            raise NetRefused(target)
        if findings := judge_target(target, self._rules):
            raise NetRefused(findings[0])
        stream = await self._backend.connect_tcp(target.host, target.port, timeout=_CONNECT_SECONDS)
        try:
            await _say(writer, "200 Connection Established")
            await self._pump(reader, writer, stream)
        finally:
            await stream.aclose()

    def _is_ours(self, lines: list[str]) -> bool:
        """Nobody else on this machine may use it."""
        wanted = base64.b64encode(f"{_USER}:{self._token}".encode()).decode()
        given = [value for name, _, value in (line.partition(":") for line in lines) if name.lower() == _AUTH]
        return len(given) == 1 and hmac.compare_digest(given[0].strip().encode(), f"Basic {wanted}".encode())

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        stream: httpcore.AsyncNetworkStream,
    ) -> None:
        """Both ways until either side ends."""

        async def out() -> None:
            while data := await reader.read(_PIECE):
                await stream.write(data)

        async def back() -> None:
            while data := await stream.read(_PIECE):
                self._left -= len(data)
                if self._left < 0:
                    raise refuse("too_large", f"More than {self._max_bytes} bytes came.")
                writer.write(data)
                await writer.drain()

        tasks = [asyncio.create_task(out()), asyncio.create_task(back())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except NetRefused as refused:
            self.refused = self.refused or refused.finding
        except (OSError, httpcore.NetworkError, httpcore.TimeoutException):
            return
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _say(writer: asyncio.StreamWriter, status: str, *headers: str) -> None:
    with suppress(OSError):
        writer.write("\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode())
        await writer.drain()
