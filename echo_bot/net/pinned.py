"""Connections to checked addresses only: a name is resolved once, every answer judged, then one is dialled.

TLS and the Host header keep the name, because only the dialled address changes.
"""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import AsyncIterator, Callable, Iterable

import httpcore
import httpx

from echo_bot.net.refusal import refuse
from echo_bot.net.resolve import Resolver

AddressRule = Callable[[str], str | None]
"""Why an address must not be connected to; None when it may be."""

_ERRORS: tuple[tuple[type[Exception], type[httpx.TransportError]], ...] = (
    (httpcore.ConnectTimeout, httpx.ConnectTimeout),
    (httpcore.ReadTimeout, httpx.ReadTimeout),
    (httpcore.WriteTimeout, httpx.WriteTimeout),
    (httpcore.PoolTimeout, httpx.PoolTimeout),
    (httpcore.ConnectError, httpx.ConnectError),
    (httpcore.ReadError, httpx.ReadError),
    (httpcore.WriteError, httpx.WriteError),
    (httpcore.LocalProtocolError, httpx.LocalProtocolError),
    (httpcore.RemoteProtocolError, httpx.RemoteProtocolError),
    (httpcore.UnsupportedProtocol, httpx.UnsupportedProtocol),
)
_CORE_ERRORS = tuple(core for core, _ in _ERRORS)


class PinningBackend(httpcore.AsyncNetworkBackend):
    """Resolves, judges all answers, and connects to them in order; never hands a name to the system."""

    def __init__(
        self, resolver: Resolver, rule: AddressRule, inner: httpcore.AsyncNetworkBackend | None = None
    ) -> None:
        self._resolver, self._rule = resolver, rule
        self._inner = inner or httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Raises NetRefused when there is no answer or any answer is not public."""
        failure: httpcore.ConnectError | httpcore.ConnectTimeout | None = None
        for address in await self._checked_addresses(host, port):
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure or httpcore.ConnectError(f"no address of {host} could be tried")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise refuse("bad_scheme", "Unix sockets are not fetched.")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)

    async def _checked_addresses(self, host: str, port: int) -> tuple[str, ...]:
        addresses = (host,) if _is_address(host) else await self._resolver.resolve(host, port)
        if not addresses:
            raise refuse("no_address", f"The name {host} has no address.")
        for address in addresses:
            if reason := self._rule(address):
                raise refuse("private_address", f"{host} is refused: {reason}.")
        return addresses


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class PinnedPool(httpx.AsyncBaseTransport):
    """A connection pool over a pinning backend: no proxy, no retries, certificates checked by name."""

    def __init__(
        self, backend: httpcore.AsyncNetworkBackend, ssl_context: ssl.SSLContext | None = None
    ) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=ssl_context or httpx.create_ssl_context(),
            network_backend=backend,
            max_connections=50,
            keepalive_expiry=5.0,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        assert isinstance(request.stream, httpx.AsyncByteStream)
        core_request = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        try:
            response = await self._pool.handle_async_request(core_request)
        except _CORE_ERRORS as error:
            raise _as_httpx(error, request) from error
        return httpx.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Stream(response, request),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Stream(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response, request: httpx.Request) -> None:
        self._response, self._request = response, request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._response.aiter_stream():
                yield chunk
        except _CORE_ERRORS as error:
            raise _as_httpx(error, self._request) from error

    async def aclose(self) -> None:
        await self._response.aclose()


def _as_httpx(error: Exception, request: httpx.Request) -> httpx.TransportError:
    kind = next((ours for core, ours in _ERRORS if isinstance(error, core)), httpx.TransportError)
    return kind(str(error) or type(error).__name__, request=request)
