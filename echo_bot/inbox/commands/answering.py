"""Answering a command: by the table, with the parts that commands use."""

from __future__ import annotations

from echo_bot.events import Identity, SessionKey
from echo_bot.inbox.commands.conversation import Stopped, halt
from echo_bot.inbox.commands.desk import Desk, Request
from echo_bot.inbox.commands.table import ANSWERS


class Commands:
    """Answers every command with a text in markdown."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def knows(self, name: str) -> bool:
        return name in ANSWERS

    async def is_admin(self, sender: Identity) -> bool:
        return await self._desk.overview.is_admin(sender)

    async def answer(self, name: str, request: Request) -> str:
        return await ANSWERS[name](request, self._desk)

    async def halt(self, key: SessionKey) -> Stopped:
        """Stop a session's turns and workers; how many."""
        return await halt(key, self._desk)
