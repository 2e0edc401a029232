"""The HTTP client for a service that the operator named: bound to its origin, for libraries with httpx2."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import httpx2

from echo_bot.net.body import ACCEPT_ENCODING
from echo_bot.net.refusal import NetRefused
from echo_bot.net.transport import REDIRECTS, GuardedTransport, guarded_transport
from echo_bot.policy.decision import Finding
from echo_bot.policy.guards.network import NetworkRules, parse_url

_ERRORS: tuple[tuple[type[httpx.TransportError], type[httpx2.TransportError]], ...] = (
    (httpx.ConnectTimeout, httpx2.ConnectTimeout),
    (httpx.ReadTimeout, httpx2.ReadTimeout),
    (httpx.WriteTimeout, httpx2.WriteTimeout),
    (httpx.PoolTimeout, httpx2.PoolTimeout),
    (httpx.ConnectError, httpx2.ConnectError),
    (httpx.ReadError, httpx2.ReadError),
    (httpx.WriteError, httpx2.WriteError),
    (httpx.RemoteProtocolError, httpx2.RemoteProtocolError),
)


def endpoint_client(endpoint: str, timeout_seconds: float) -> httpx2.AsyncClient:
    """A client for `endpoint` alone, whatever address its name has; the environment's proxies do not count.

    Raises ValueError for an endpoint that is no http address.
    """
    transport = EndpointTransport(endpoint, guarded_transport(NetworkRules(), endpoints=[endpoint]))
    return httpx2.AsyncClient(
        transport=transport,
        timeout=httpx2.Timeout(timeout_seconds, connect=min(10.0, timeout_seconds)),
        headers={"accept-encoding": ACCEPT_ENCODING},
    )


class EndpointTransport(httpx2.AsyncBaseTransport):
    """Hands requests to the guarded transport. What is said to the endpoint goes nowhere else.

    A request or a redirect that leaves its origin fails as a connection error: keys and conversations would
    go along with it.
    """

    def __init__(self, endpoint: str, guarded: GuardedTransport) -> None:
        target = parse_url(endpoint)
        if isinstance(target, Finding):
            raise ValueError(f"{endpoint!r} cannot be used as an endpoint: {target.sentence}")
        self._origin, self._guarded = target.origin, guarded

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._check(str(request.url), request)
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        headers = [each for each in request.headers.raw if each[0].lower() != b"accept-encoding"]
        asked = httpx.Request(
            request.method,
            str(request.url),
            headers=[*headers, (b"accept-encoding", ACCEPT_ENCODING.encode())],
            stream=_Sent(request.stream),
            extensions=dict(request.extensions),
        )
        try:
            answer = await self._guarded.handle_async_request(asked)
        except NetRefused:
            raise _elsewhere(request) from None
        except httpx.TransportError as error:
            raise _as_httpx2(error, request) from None
        response = httpx2.Response(
            answer.status_code,
            headers=answer.headers.raw,
            stream=_Received(answer, request),
            request=request,
        )
        location = answer.headers.get("location")
        if answer.status_code in REDIRECTS and location is not None:
            try:
                self._check(self._guarded.judge_redirect(str(request.url), location), request)
            except (NetRefused, httpx2.ConnectError):
                await answer.aclose()
                raise _elsewhere(request) from None
        return response

    async def aclose(self) -> None:
        await self._guarded.aclose()

    def _check(self, url: str, request: httpx2.Request) -> None:
        target = parse_url(url)
        if isinstance(target, Finding) or target.origin != self._origin:
            raise _elsewhere(request)


class _Sent(httpx.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            yield piece


class _Received(httpx2.AsyncByteStream):
    """Who begins to read again goes on where the last one stopped: libraries drain what they did not need."""

    def __init__(self, answer: httpx.Response, request: httpx2.Request) -> None:
        self._answer, self._request = answer, request
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        self._pieces = aiter(answer.stream)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._pieces:
                yield piece
        except httpx.TransportError as error:
            raise _as_httpx2(error, self._request) from None

    async def aclose(self) -> None:
        await self._answer.aclose()


def _elsewhere(request: httpx2.Request) -> httpx2.ConnectError:
    return httpx2.ConnectError(
        "the server sends the request on to another site; that is refused", request=request
    )


def _as_httpx2(error: httpx.TransportError, request: httpx2.Request) -> httpx2.TransportError:
    kind = next((theirs for ours, theirs in _ERRORS if isinstance(error, ours)), httpx2.ConnectError)
    return kind(str(error) or type(error).__name__, request=request)
