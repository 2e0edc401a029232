"""Runs rows of the network corpus through the real guard, with a scripted resolver, server and clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any

import httpcore
import httpx

from echo_bot.net import Decoder, Fetch, Fetched, FetchLimits, GuardedClient, GuardedTransport, PinningBackend
from echo_bot.net.body import decoder_for
from echo_bot.policy.guards.network import NetworkRules, judge_address

_CHUNK = 64 * 1024
_DEFAULT_LIMIT = 10 * 1024 * 1024


def run_net_case(row: Mapping[str, Any]) -> dict[str, object]:
    """One prediction: the verdict and every address passed to connect(), in order."""
    script = _Script(row)
    backend = PinningBackend(script, judge_address, inner=script)
    client = GuardedClient(
        GuardedTransport(NetworkRules("allow"), _ScriptedServer(script, backend)),
        FetchLimits(max_bytes=int(row.get("limit_bytes") or _DEFAULT_LIMIT)),
        clock=script.now,
        decoders=script.decoder_for,
    )
    outcome = asyncio.run(client.fetch(Fetch(str(row["url"]))))
    verdict = "allow" if isinstance(outcome, Fetched) else "deny"
    return {"id": row["id"], "verdict": verdict, "connected": script.connected}


class _Script(httpcore.AsyncNetworkBackend):
    """The row as resolver, network and clock at once. `hop` is the number of answers given so far."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = row
        self.redirects: Sequence[Mapping[str, Any]] = row.get("redirects") or ()
        self.response: Mapping[str, Any] = row.get("response") or {}
        self.hop = 0
        self.connected: list[str] = []
        self._lookups = 0
        self._time = 0.0

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        self._lookups += 1
        if self.hop:
            answers = self.redirects[self.hop - 1].get("resolves_to")
        elif self._lookups > 1 and "rebind_to" in self._row:
            answers = self._row["rebind_to"]
        else:
            answers = self._row.get("resolves_to")
        return tuple(answers or ())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        self.connected.append(host)
        return httpcore.AsyncMockStream([])

    def now(self) -> float:
        return self._time

    def pass_time(self, seconds: float) -> None:
        self._time += seconds

    def decoder_for(self, encoding: str) -> Decoder | None:
        real = decoder_for(encoding)
        if real is None or self.response.get("decoded_bytes") is None:
            return None if real is None else _Counting(1, 1)
        return _Counting(int(self.response["decoded_bytes"]), int(self.response.get("body_bytes") or 0))


class _Counting:
    """Decodes to as many bytes as the row says, in proportion to what was received."""

    def __init__(self, decoded: int, received: int) -> None:
        self._decoded, self._expected = decoded, max(1, received)
        self._received = self._given = 0

    def decode(self, data: bytes, most: int) -> bytes:
        self._received += len(data)
        due = self._decoded * self._received // self._expected - self._given
        size = min(due, most)
        self._given += size
        return bytes(size)


class _ScriptedServer(httpx.AsyncBaseTransport):
    """Connects through the pinning backend like the real pool, then answers from the script."""

    def __init__(self, script: _Script, backend: PinningBackend) -> None:
        self._script, self._backend = script, backend

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        await self._backend.connect_tcp(request.url.raw_host.decode("ascii"), port)
        script = self._script
        if script.hop < len(script.redirects):
            redirect = script.redirects[script.hop]
            script.hop += 1
            location = (b"location", str(redirect["location"]).encode())
            return httpx.Response(int(redirect["status"]), headers=[location], request=request)
        headers = [(n.encode(), str(v).encode()) for n, v in (script.response.get("headers") or {}).items()]
        status = int(script.response.get("status", 200))
        return httpx.Response(status, headers=headers, stream=_ScriptedBody(script), request=request)


class _ScriptedBody(httpx.AsyncByteStream):
    def __init__(self, script: _Script) -> None:
        self._script = script

    async def __aiter__(self) -> AsyncIterator[bytes]:
        response = self._script.response
        left = int(response.get("body_bytes") or 0)
        pieces = max(1, -(-left // _CHUNK))
        for _ in range(pieces):
            self._script.pass_time(float(response.get("slow_seconds") or 0) / pieces)
            yield bytes(min(left, _CHUNK))
            left -= min(left, _CHUNK)
