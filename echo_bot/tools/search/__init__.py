"""Web search: one protocol, a provider each in its own words."""

from echo_bot.tools.search.engine import Engine, Found, merged
from echo_bot.tools.search.providers import PROVIDERS, api_engine

__all__ = ["PROVIDERS", "Engine", "Found", "api_engine", "merged"]
