"""ddgs: search engines' result pages read by that package, fetched by our guarded client in place of its own.

The package fetches from threads with a client that no guard sees; each engine of it is given this one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlencode

from echo_bot.net import Fetch, Fetched, FetchLimits, GuardedClient
from echo_bot.net.clients import GuardedClients
from echo_bot.tools.base import ToolResult
from echo_bot.tools.search.engine import Found
from echo_bot.tools.web.charset import decoded

ENGINES = ("duckduckgo", "mojeek", "wikipedia", "startpage", "yahoo", "brave")
"""Asked in this order until there are enough results; others of the package only answer browsers."""

MISSING = (
    "the package ddgs is not installed: run pip install 'echo-bot[web]' "
    "(in a checkout: pip install -c constraints.txt -e '.[web]')"
)
_USER_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
"""Their pages for people are only given to what looks like a browser."""


class MetaSearch:
    """The provider without a key."""

    def __init__(self, clients: GuardedClients, limits: FetchLimits) -> None:
        self._clients, self._limits = clients, limits

    def problem(self) -> str:
        if find_spec("ddgs") is None:
            return MISSING
        return ""

    async def search(self, query: str, wanted: int) -> list[Found] | ToolResult:
        found: list[Found] = []
        failures: list[str] = []
        try:
            async with (
                asyncio.timeout(self._limits.total_seconds),
                self._clients.opened(self._limits) as client,
            ):
                for name in ENGINES:
                    try:
                        found += await self._asked(name, query, client)
                    except _NoAnswer as error:
                        failures.append(f"{name}: {error}")
                    if len(found) >= wanted:
                        break
        except TimeoutError:
            failures.append(f"no more time after {self._limits.total_seconds:g} s")
        if found or not failures:
            return found
        return ToolResult(
            False, error="no search engine answered: " + "; ".join(failures), error_kind="dependency"
        )

    async def _asked(self, name: str, query: str, client: GuardedClient) -> list[Found]:
        fetcher = _Fetcher(client, asyncio.get_running_loop(), self._limits.total_seconds)
        try:
            results = await asyncio.to_thread(_results, name, query, fetcher)
        except _NoAnswer:
            raise
        except Exception as error:  # a page that its reader does not understand
            raise _NoAnswer(f"its page was not understood ({type(error).__name__})") from error
        if fetcher.failure and not results:
            raise _NoAnswer(fetcher.failure)
        return results


class _NoAnswer(Exception):
    """Why one engine gave nothing."""


def _results(name: str, query: str, fetcher: _Fetcher) -> list[Found]:
    """Runs in a thread."""
    from ddgs.engines import ENGINES as KNOWN

    kind = KNOWN["text"].get(name)
    if kind is None:
        raise _NoAnswer("this version of ddgs does not know it")
    engine: Any = kind.__new__(kind)
    engine.http_client = fetcher
    engine.results = []
    fetcher.client.headers_update(kind.headers_update)
    return [Found(each.title, each.href, each.body) for each in engine.search(query) or ()]


class _Fetcher:
    """What engines of the package know as their HTTP client; called in a thread, fetches in the loop."""

    def __init__(self, client: GuardedClient, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._guarded, self._loop, self._seconds = client, loop, seconds
        self.client = _Cookies()
        self.failure = ""

    def request(
        self,
        method: str,
        url: str,
        params: Mapping[str, str] | None = None,
        data: Mapping[str, str] | None = None,
        **others: Any,
    ) -> _Response:
        if params:
            url += ("&" if "?" in url else "?") + urlencode(params)
        headers = {"user-agent": _USER_AGENT, "accept-language": "en", **self.client.headers_for(url)}
        body = urlencode(data).encode() if data else b""
        if body:
            headers["content-type"] = "application/x-www-form-urlencoded"
        asked = asyncio.run_coroutine_threadsafe(
            self._guarded.fetch(Fetch(url, method, headers, body)), self._loop
        )
        outcome = asked.result(self._seconds + 1)
        if isinstance(outcome, Fetched):
            if outcome.status != 200:
                self.failure = f"it answered {outcome.status}"
            return _Response(outcome)
        self.failure = outcome.finding.sentence if hasattr(outcome, "finding") else outcome.reason
        return _Response(None)


class _Cookies:
    """Headers and cookies that an engine sets before it asks."""

    def __init__(self) -> None:
        self._headers: dict[str, str] = {}
        self._cookies: dict[str, str] = {}

    def headers_update(self, headers: Mapping[str, str]) -> None:
        self._headers.update({name.lower(): value for name, value in headers.items()})

    def set_cookies(self, url: str, cookies: Mapping[str, str]) -> None:
        self._cookies.update(cookies)

    def headers_for(self, url: str) -> dict[str, str]:
        cookies = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        return {**self._headers, **({"cookie": cookies} if cookies else {})}


class _Response:
    def __init__(self, answer: Fetched | None) -> None:
        self.status_code = answer.status if answer else 0
        self.content = answer.body if answer else b""
        self.text = decoded(self.content, answer.headers.get("content-type", "")) if answer else ""
