"""A server over HTTP: the SDK's requests go out through the guarded transport, and come back bounded."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx
import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client

from echo_bot.mcp.traffic import End
from echo_bot.net import GuardedTransport, NetRefused

MOST_BYTES = 16 * 1024 * 1024
_EVENT_STREAM = "text/event-stream"
_READ_SECONDS = 300.0
_CONNECT_SECONDS = 15.0


@asynccontextmanager
async def http_streams(
    url: str, headers: Mapping[str, str], guarded: GuardedTransport, end: End, *, call_seconds: float
) -> AsyncIterator[TransportStreams]:
    """Talk to the endpoint. What the network does is an error of the request, and the connection's end."""
    transport = _Bridge(guarded, end)
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=max(_READ_SECONDS, call_seconds))
    async with (
        httpx2.AsyncClient(
            transport=transport, headers=dict(headers), timeout=timeout, trust_env=False
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MOST_BYTES) as streams,
    ):
        yield streams


class _Bridge(httpx2.AsyncBaseTransport):
    """Between the SDK's HTTP library and ours. A failure of the way is told as a JSON-RPC error."""

    def __init__(self, guarded: GuardedTransport, end: End) -> None:
        self._guarded, self._end = guarded, end

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await self._guarded.handle_async_request(await _ours(request))
        except NetRefused as refused:
            return self._failed(request, f"refused: {refused.finding.sentence}")
        except httpx.TransportError as error:
            return self._failed(request, f"cannot be reached: {str(error) or type(error).__name__}")
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity"):
            await response.aclose()
            return self._failed(request, "sent an encoding that was not asked for")
        self._note(request, response.status_code)
        return httpx2.Response(
            response.status_code, headers=response.headers.raw, stream=_Body(response), request=request
        )

    async def aclose(self) -> None:
        await self._guarded.aclose()

    def _note(self, request: httpx2.Request, status: int) -> None:
        """What ends a connection: being unknown there, or a session that is."""
        if status in (401, 403):
            why = f"answers HTTP {status}: it wants to know who asks; set its headers (Authorization)"
            self._end.come(why)
        elif status == 404 and request.method == "POST" and MCP_SESSION_ID in request.headers:
            self._end.come("has ended the session")

    def _failed(self, request: httpx2.Request, why: str) -> httpx2.Response:
        if request.method == "POST":
            self._end.come(why)
        error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": why}}
        return httpx2.Response(
            502, headers={"content-type": "application/json"}, content=json.dumps(error), request=request
        )


class _Body(httpx2.AsyncByteStream):
    """The body as it comes. Only a stream of events, each of which is bounded, may go on for ever."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        self._is_bounded = kind != _EVENT_STREAM

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received = 0
        assert isinstance(self._response.stream, httpx.AsyncByteStream)
        try:
            async for piece in self._response.stream:
                received += len(piece)
                if self._is_bounded and received > MOST_BYTES:
                    raise httpx2.StreamError(f"the answer is larger than {MOST_BYTES:,} bytes")
                yield piece
        except httpx.TransportError as error:
            raise httpx2.ReadError(str(error) or type(error).__name__) from error

    async def aclose(self) -> None:
        await self._response.aclose()


async def _ours(request: httpx2.Request) -> httpx.Request:
    headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"accept-encoding"]
    extensions = {"timeout": request.extensions.get("timeout", {})}
    return httpx.Request(
        request.method,
        str(request.url),
        headers=[*headers, (b"accept-encoding", b"identity")],
        content=await request.aread(),
        extensions=extensions,
    )
