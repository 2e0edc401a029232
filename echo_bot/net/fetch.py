"""One fetch from the first URL to the last byte: hops, credentials, limits and the deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import httpx

from echo_bot.net.body import ACCEPT_ENCODING, DecoderFor, FetchLimits, decoder_for, read_body
from echo_bot.net.refusal import NetRefused, refuse
from echo_bot.net.transport import REDIRECTS, GuardedTransport
from echo_bot.policy.decision import Finding
from echo_bot.policy.guards.network import Target, parse_url

_SAFE_ANYWHERE = frozenset(("accept", "accept-language", "user-agent", "content-type", "range"))
"""Headers that follow a redirect to another origin; all others may carry credentials."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """What to ask for."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer, of any status: the last URL, headers with lower-case names, the decoded body."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Refused:
    """The guard stopped it: why, and at which hop (0 is the first URL)."""

    finding: Finding
    url: str
    hop: int


@dataclass(frozen=True, slots=True)
class FetchFailed:
    """The network did not do it: no connection, a broken answer, a bad certificate."""

    reason: str
    url: str


class GuardedClient:
    """Fetches through a guarded transport. Keeps no cookies, reads no environment."""

    def __init__(
        self,
        transport: GuardedTransport,
        limits: FetchLimits | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        decoders: DecoderFor = decoder_for,
    ) -> None:
        self._transport, self._limits = transport, limits or FetchLimits()
        self._clock, self._decoders = clock, decoders

    async def fetch(
        self, wanted: Fetch, limits: FetchLimits | None = None
    ) -> Fetched | Refused | FetchFailed:
        """Follow redirects to an answer. Never raises for what a server or a name does."""
        limits = limits or self._limits
        fetching = _Fetching(self._transport, limits, self._clock, self._decoders)
        try:
            async with asyncio.timeout(limits.total_seconds):
                return await fetching.run(wanted)
        except NetRefused as refused:
            return Refused(refused.finding, fetching.url, fetching.hop + refused.in_redirect)
        except TimeoutError:
            return Refused(_too_slow(limits).finding, fetching.url, fetching.hop)
        except (httpx.TransportError, httpx.InvalidURL) as error:
            return FetchFailed(str(error) or type(error).__name__, fetching.url)

    async def aclose(self) -> None:
        await self._transport.aclose()


class _Fetching:
    """The state of one fetch: where it is, and since when."""

    def __init__(
        self,
        transport: GuardedTransport,
        limits: FetchLimits,
        clock: Callable[[], float],
        decoders: DecoderFor,
    ) -> None:
        self._transport, self._limits, self._clock, self._decoders = transport, limits, clock, decoders
        self._deadline = clock() + limits.total_seconds
        self.url, self.hop = "", 0

    async def run(self, wanted: Fetch) -> Fetched:
        self.url = wanted.url
        seen: set[tuple[str, str]] = set()
        while True:
            self._check_time()
            if (wanted.method, wanted.url) in seen or self.hop > self._limits.max_redirects:
                raise refuse("too_many_redirects", "The server redirects in a circle or too often.")
            seen.add((wanted.method, wanted.url))
            response = await self._transport.handle_async_request(_request(wanted, self._limits))
            try:
                location = response.headers.get("location")
                if response.status_code not in REDIRECTS or location is None:
                    return await self._answer(wanted, response)
            finally:
                await response.aclose()
            self.hop += 1
            target = self._transport.judge_redirect(wanted.url, location)
            wanted = _redirected(wanted, target, response.status_code)
            self.url = target

    async def _answer(self, wanted: Fetch, response: httpx.Response) -> Fetched:
        empty = wanted.method == "HEAD"
        body = b"" if empty else await read_body(response, self._limits, self._check_time, self._decoders)
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Fetched(wanted.url, response.status_code, headers, body)

    def _check_time(self) -> None:
        if self._clock() > self._deadline:
            raise _too_slow(self._limits)


def _request(wanted: Fetch, limits: FetchLimits) -> httpx.Request:
    """The request as sent. A name or password in the URL is not: it belongs to whoever wrote the URL."""
    target = _parsed(wanted.url)
    url = httpx.URL(wanted.url).copy_with(username=None, password=None, fragment=None)
    if not target.is_literal and url.raw_host.decode("ascii").removesuffix(".") != target.host:
        raise refuse("bad_host", "The host can be read in more than one way.")
    seconds = limits.total_seconds
    extensions: dict[str, object] = {
        "timeout": {"connect": min(10.0, seconds), "read": seconds, "write": seconds, "pool": seconds},
        "sni_hostname": target.host,
    }
    headers = {"accept-encoding": ACCEPT_ENCODING, **{name.lower(): v for name, v in wanted.headers.items()}}
    return httpx.Request(
        wanted.method, url, headers=headers, content=wanted.body or None, extensions=extensions
    )


def _redirected(wanted: Fetch, url: str, status: int) -> Fetch:
    before, after = _parsed(wanted.url), _parsed(url)
    same_origin = before.origin == after.origin
    headers = {
        name: value for name, value in wanted.headers.items() if same_origin or name.lower() in _SAFE_ANYWHERE
    }
    if status == 303 or (status in (301, 302) and wanted.method == "POST"):
        method = "HEAD" if wanted.method == "HEAD" else "GET"
        return Fetch(url, method, {n: v for n, v in headers.items() if n.lower() != "content-type"})
    if wanted.body and not same_origin:
        raise refuse("bad_redirect", "The server asks to send the request's content to another site.")
    return replace(wanted, url=url, headers=headers)


def _parsed(url: str) -> Target:
    target = parse_url(url)
    if isinstance(target, Finding):
        raise NetRefused(target)
    return target


def _too_slow(limits: FetchLimits) -> NetRefused:
    return refuse("too_slow", f"The answer took longer than {limits.total_seconds:g} s in all.")
