"""What a server does not do, as errors that need no SDK."""

from __future__ import annotations

from echo_bot.errors import EchoBotError


class McpFailed(EchoBotError):
    """The server refused, answered nonsense, or cannot be reached. `str()` goes on after its name."""


class McpUnanswered(McpFailed):
    """No answer in time."""


class McpEnded(McpFailed):
    """The connection ended during a request: whether the server did it is not known."""
