"""The HTTP server: log-in, health, and the routes of channels that serve pages."""

from echo_bot.gateway.hooks import hook_problem
from echo_bot.gateway.server import Gateway
from echo_bot.gateway.settings import GatewaySettings

__all__ = ["Gateway", "GatewaySettings", "hook_problem"]
