"""Providers with an HTTP interface of their own: SearXNG, Brave, Tavily."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from echo_bot.net import FetchLimits
from echo_bot.net.clients import GuardedClients
from echo_bot.tools.base import ToolResult
from echo_bot.tools.search.engine import Found
from echo_bot.tools.services import Call, Service, bearer, call, json_object, not_understood

KEY = "tools.web.search_api_key"
BASE_KEY = "tools.web.search_api_base"


@dataclass(frozen=True, slots=True)
class Provider:
    """How one provider is asked. `results` is the path to its list, the fields are those of an entry."""

    name: str
    base: str
    needs_key: bool
    request: Callable[[Service, str, int], Call]
    results: tuple[str, ...]
    url: str = "url"
    snippet: str = "content"
    most: int = 20


def _searxng(service: Service, query: str, wanted: int) -> Call:
    return Call("search?" + urlencode({"q": query, "format": "json"}), bearer(service))


def _brave(service: Service, query: str, wanted: int) -> Call:
    parameters = urlencode({"q": query, "count": wanted})
    return Call(f"web/search?{parameters}", {"x-subscription-token": service.api_key})


def _tavily(service: Service, query: str, wanted: int) -> Call:
    return Call("search", bearer(service), {"query": query, "max_results": wanted})


PROVIDERS: Mapping[str, Provider] = {
    "searxng": Provider("SearXNG", "", False, _searxng, ("results",)),
    "brave": Provider(
        "Brave Search",
        "https://api.search.brave.com/res/v1",
        True,
        _brave,
        ("web", "results"),
        snippet="description",
    ),
    "tavily": Provider("Tavily", "https://api.tavily.com", True, _tavily, ("results",)),
}


class ApiEngine:
    """One provider, asked through a client bound to its origin."""

    def __init__(
        self, provider: Provider, service: Service, clients: GuardedClients, limits: FetchLimits
    ) -> None:
        self._provider, self._service = provider, service
        self._clients, self._limits = clients, limits

    def problem(self) -> str:
        return self._service.problem(self._clients.rules, needs_key=self._provider.needs_key)

    async def search(self, query: str, wanted: int) -> list[Found] | ToolResult:
        request = self._provider.request(self._service, query, min(wanted, self._provider.most))
        answer = await call(self._clients, self._service, request, self._limits)
        if isinstance(answer, ToolResult):
            return self._explained(answer)
        value: object = json_object(answer)
        if value is None:
            return not_understood(self._service)
        for name in self._provider.results:
            value = value.get(name, []) if isinstance(value, Mapping) else None
        if not isinstance(value, list):
            return not_understood(self._service)
        return [self._found(entry) for entry in value if isinstance(entry, Mapping)]

    def _found(self, entry: Mapping[str, object]) -> Found:
        return Found(
            str(entry.get("title") or ""),
            str(entry.get(self._provider.url) or ""),
            str(entry.get(self._provider.snippet) or ""),
        )

    def _explained(self, result: ToolResult) -> ToolResult:
        """A SearXNG as it is installed refuses JSON."""
        if self._provider.name != "SearXNG" or result.metadata.get("status") != 403:
            return result
        hint = f"{result.error}. Its settings.yml must list json under search.formats"
        return ToolResult(False, error=hint, error_kind="business")


def api_engine(name: str, base: str, api_key: str, clients: GuardedClients, limits: FetchLimits) -> ApiEngine:
    """The engine of a provider in `PROVIDERS`; `base` takes the place of its usual address."""
    provider = PROVIDERS[name]
    service = Service(provider.name, base or provider.base, BASE_KEY, KEY, api_key)
    return ApiEngine(provider, service, clients, limits)
