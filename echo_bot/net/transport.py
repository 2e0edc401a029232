"""The guard as an httpx transport: requests and redirect targets are judged before a socket opens."""

from __future__ import annotations

import ssl
from collections.abc import Collection, Iterable
from urllib.parse import urljoin

import httpx

from echo_bot.net.pinned import AddressRule, PinnedPool, PinningBackend
from echo_bot.net.refusal import NetRefused, refuse
from echo_bot.net.resolve import Resolver, SystemResolver
from echo_bot.policy.decision import Finding
from echo_bot.policy.guards.network import NetworkRules, Target, judge_address, judge_target, parse_url

Origin = tuple[str, str, int]
"""Scheme, ASCII host, port."""

REDIRECTS = frozenset((301, 302, 303, 307, 308))


class GuardedTransport(httpx.AsyncBaseTransport):
    """Judges, then hands on to `pool`, whose connections are pinned.

    Requests to `trusted`, origins that the operator wrote as endpoints, go to `trusted_pool` instead, which
    connects to any address. A redirect that leaves them is an ordinary guarded request again.
    """

    def __init__(
        self,
        rules: NetworkRules,
        pool: httpx.AsyncBaseTransport,
        *,
        trusted: Collection[Origin] = (),
        trusted_pool: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        if bool(trusted) is not (trusted_pool is not None):
            raise ValueError("trusted origins and their pool are given together")
        self._rules, self._pool = rules, pool
        self._trusted, self._trusted_pool = frozenset(trusted), trusted_pool

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises NetRefused for a request, or for a redirect in the response, that the guard refuses."""
        pool = self._pool_for(self._judged(str(request.url)))
        request.headers.pop("proxy-authorization", None)
        response = await pool.handle_async_request(request)
        location = response.headers.get("location")
        if response.status_code in REDIRECTS and location is not None:
            try:
                self.judge_redirect(str(request.url), location)
            except NetRefused:
                await response.aclose()
                raise
        return response

    def judge_redirect(self, base: str, location: str) -> str:
        """The absolute URL that `location` means; raises NetRefused when it must not be followed."""
        if any(ord(char) <= 0x20 or ord(char) == 0x7F or char == "\\" for char in location):
            raise refuse(
                "bad_url", "The redirect's address holds characters that clients read differently.", True
            )
        try:
            target = urljoin(base, location)
        except ValueError:
            raise refuse("bad_url", "The redirect's address is not a URL.", True) from None
        try:
            self._judged(target)
        except NetRefused as refused:
            raise NetRefused(refused.finding, in_redirect=True) from None
        return target

    async def aclose(self) -> None:
        await self._pool.aclose()
        if self._trusted_pool is not None:
            await self._trusted_pool.aclose()

    def _judged(self, url: str) -> Target:
        target = parse_url(url)
        if isinstance(target, Finding):
            raise NetRefused(target)
        if target.origin not in self._trusted and (findings := judge_target(target, self._rules)):
            raise NetRefused(findings[0])
        return target

    def _pool_for(self, target: Target) -> httpx.AsyncBaseTransport:
        if self._trusted_pool is not None and target.origin in self._trusted:
            return self._trusted_pool
        return self._pool


def guarded_transport(
    rules: NetworkRules,
    *,
    endpoints: Iterable[str] = (),
    proxy: str = "",
    resolver: Resolver | None = None,
    rule: AddressRule = judge_address,
    ssl_context: ssl.SSLContext | None = None,
) -> GuardedTransport:
    """The transport over real sockets. `endpoints` are URLs from the configuration whose origins are trusted.

    `proxy` is used for those alone: through it the addresses of other hosts could not be checked.
    """
    resolver = resolver or SystemResolver()
    pool = PinnedPool(PinningBackend(resolver, rule), ssl_context)
    trusted = [_origin(endpoint) for endpoint in endpoints if endpoint]
    if not trusted:
        return GuardedTransport(rules, pool)
    if proxy:
        return GuardedTransport(
            rules, pool, trusted=trusted, trusted_pool=httpx.AsyncHTTPTransport(proxy=proxy, trust_env=False)
        )
    anywhere = PinnedPool(PinningBackend(resolver, lambda address: None), ssl_context)
    return GuardedTransport(rules, pool, trusted=trusted, trusted_pool=anywhere)


def _origin(endpoint: str) -> Origin:
    target = parse_url(endpoint)
    if isinstance(target, Finding):
        raise ValueError(f"{endpoint!r} cannot be used as an endpoint: {target.sentence}")
    return target.origin
