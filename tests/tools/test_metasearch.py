"""The provider ddgs: the package reads the pages, our guard fetches them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx
import pytest

from echo_bot.net import FetchLimits, GuardedClient, GuardedTransport
from echo_bot.net.clients import GuardedClients
from echo_bot.policy.guards.network import NetworkRules
from echo_bot.tools.base import ToolResult
from echo_bot.tools.search import metasearch
from echo_bot.tools.search.metasearch import MetaSearch

DUCK = """<html><body>
<div class="result__body body"><h2><a href="https://a.example/1">Tides explained</a></h2>
<a href="https://a.example/1">The sea rises twice a day</a></div>
<div class="body"><h2><a>Advert</a></h2><a href="https://duckduckgo.com/y.js?ad">buy</a></div></body></html>"""


class Web(GuardedClients):
    """The guard over a transport of canned pages: search engines speak https, which needs certificates."""

    def __init__(self, answer: Callable[[httpx.Request], httpx.Response], rules: NetworkRules) -> None:
        super().__init__(rules)
        self._answer = answer
        self.asked: list[httpx.Request] = []

    @asynccontextmanager
    async def opened(self, limits: FetchLimits, endpoint: str = "") -> AsyncIterator[GuardedClient]:
        async def answer(request: httpx.Request) -> httpx.Response:
            self.asked.append(request)
            response = self._answer(request)
            body = response.content
            return httpx.Response(response.status_code, headers=response.headers, stream=_Body(body))

        client = GuardedClient(GuardedTransport(self.rules, httpx.MockTransport(answer)), limits)
        yield client
        await client.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, body: bytes) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body


ALLOW = NetworkRules("allow")
LIMITS = FetchLimits(total_seconds=5)


def by_host(pages: dict[str, str]) -> Callable[[httpx.Request], httpx.Response]:
    return lambda request: httpx.Response(
        200 if request.url.host in pages else 403, text=pages.get(request.url.host, "no")
    )


async def test_results_are_read_from_an_engines_page() -> None:
    web = Web(by_host({"html.duckduckgo.com": DUCK}), ALLOW)
    found = await MetaSearch(web, LIMITS).search("tides at Fundy", 1)
    assert not isinstance(found, ToolResult)
    assert [(each.url, each.snippet) for each in found] == [
        ("https://a.example/1", "The sea rises twice a day")
    ]
    (request,) = web.asked
    assert (request.method, request.url.host) == ("POST", "html.duckduckgo.com")
    assert b"q=tides+at+Fundy" in request.content


async def test_every_engine_is_asked_before_giving_up_and_each_says_why() -> None:
    web = Web(by_host({}), ALLOW)
    found = await MetaSearch(web, LIMITS).search("x", 5)
    assert isinstance(found, ToolResult)
    assert found.error_kind == "dependency"
    for name in metasearch.ENGINES:
        assert f"{name}: it answered 403" in found.error


async def test_the_restricted_policy_holds_for_engines() -> None:
    web = Web(by_host({"html.duckduckgo.com": DUCK}), NetworkRules("restricted", ("docs.example",)))
    found = await MetaSearch(web, LIMITS).search("x", 5)
    assert isinstance(found, ToolResult)
    assert "Html.duckduckgo.com is not among the hosts" in found.error
    assert web.asked == []


async def test_a_page_that_is_none_is_that_engines_failure_alone() -> None:
    web = Web(by_host({"html.duckduckgo.com": DUCK, "en.wikipedia.org": "no json"}), ALLOW)
    found = await MetaSearch(web, LIMITS).search("x", 5)
    assert not isinstance(found, ToolResult)
    assert len(found) == 1


async def test_the_deadline_is_for_all_engines_together() -> None:
    web = Web(by_host({}), ALLOW)
    never = asyncio.Event()

    async def hang(*arguments: object) -> list[object]:
        await never.wait()
        return []

    engine = MetaSearch(web, FetchLimits(total_seconds=0.1))
    engine._asked = hang  # type: ignore[method-assign, assignment]
    found = await engine.search("x", 5)
    assert isinstance(found, ToolResult)
    assert "no more time after 0.1 s" in found.error


def test_engines_are_known_to_the_package() -> None:
    from ddgs.engines import ENGINES

    assert set(metasearch.ENGINES) <= ENGINES["text"].keys()


def test_without_the_package_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metasearch, "find_spec", lambda name: None)
    assert "pip install 'echo-bot[web]'" in MetaSearch(Web(by_host({}), ALLOW), LIMITS).problem()
