"""The inbox: the core's side of the port. Admits, stores, sorts into commands and turns."""

from echo_bot.inbox.port import Inbox

__all__ = ["Inbox"]
