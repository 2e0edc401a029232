"""Guarded clients for tools: one for what a model names, and for a service one bound to its endpoint."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cached_property

import httpx

from echo_bot.net.body import FetchLimits
from echo_bot.net.fetch import GuardedClient
from echo_bot.net.pinned import AddressRule
from echo_bot.net.resolve import Resolver
from echo_bot.net.transport import guarded_transport
from echo_bot.policy.guards.network import NetworkRules, judge_address


class GuardedClients:
    """Opens clients under `rules`. `resolver` and `rule` replace the system's names and the address table."""

    def __init__(
        self, rules: NetworkRules, *, resolver: Resolver | None = None, rule: AddressRule = judge_address
    ) -> None:
        self.rules = rules
        self._resolver, self._rule = resolver, rule

    @asynccontextmanager
    async def opened(self, limits: FetchLimits, endpoint: str = "") -> AsyncIterator[GuardedClient]:
        """A client for one call. The exact origin of `endpoint` may have any address; nothing else may.

        Raises ValueError for an endpoint that is no http address.
        """
        transport = guarded_transport(
            self.rules,
            endpoints=[endpoint] if endpoint else (),
            resolver=self._resolver,
            rule=self._rule,
            ssl_context=self._ssl_context,
        )
        client = GuardedClient(transport, limits)
        try:
            yield client
        finally:
            await client.aclose()

    @cached_property
    def _ssl_context(self) -> ssl.SSLContext:
        return httpx.create_ssl_context()
