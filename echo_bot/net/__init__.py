"""The guarded way out: one HTTP client that connects only to addresses it has checked itself."""

from __future__ import annotations

from echo_bot.net.body import Decoder, FetchLimits
from echo_bot.net.fetch import Fetch, Fetched, FetchFailed, GuardedClient, Refused
from echo_bot.net.pinned import PinningBackend
from echo_bot.net.refusal import NetRefused
from echo_bot.net.resolve import Resolver, SystemResolver
from echo_bot.net.transport import GuardedTransport, Origin, guarded_transport
from echo_bot.net.tunnel import GuardedTunnel

__all__ = [
    "Decoder",
    "Fetch",
    "FetchFailed",
    "FetchLimits",
    "Fetched",
    "GuardedClient",
    "GuardedTransport",
    "GuardedTunnel",
    "NetRefused",
    "Origin",
    "PinningBackend",
    "Refused",
    "Resolver",
    "SystemResolver",
    "guarded_transport",
]
