"""Received files: fetched when their turn begins, through the guard, into the session's folder."""

from echo_bot.agent.received.fetching import FileSources, ReceivedFiles
from echo_bot.agent.received.files import ReceivedFile

__all__ = ["FileSources", "ReceivedFile", "ReceivedFiles"]
