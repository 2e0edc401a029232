"""Groups that became supergroups under a new id: told to the core once, and followed when sending."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog
from telegram.error import ChatMigrated

from channels.telegram.inbound import NAME
from echo_bot.channel import Port
from echo_bot.errors import EchoBotError
from echo_bot.events import Address

log = structlog.get_logger(__name__)

T = TypeVar("T")


class Moves:
    """Knows the moves that Telegram told of since the start."""

    def __init__(self, port: Port, account: str) -> None:
        self._port, self._account = port, account
        self._new_ids: dict[str, str] = {}
        self._noting = asyncio.Lock()

    async def note(self, old: Address, new_chat_id: str) -> None:
        """Tell the core, unless it was told. Raises what the core raises: then Telegram tells again."""
        async with self._noting:
            if self._new_ids.get(old.chat_id) == new_chat_id:
                return
            await self._port.chat_moved(old, new_chat_id)
            self._new_ids[old.chat_id] = new_chat_id
        log.info("telegram_chat_moved", account=self._account, old=old.chat_id, new=new_chat_id)

    def now(self, address: Address) -> Address:
        """The address with its chat's present id."""
        return _at(address, self._new_ids.get(address.chat_id, address.chat_id))

    async def follow(self, address: Address, send: Callable[[Address], Awaitable[T]]) -> tuple[Address, T]:
        """Send to the chat, and once more under its new id where Telegram says that it moved."""
        address = self.now(address)
        try:
            return address, await send(address)
        except ChatMigrated as moved:
            new = _at(address, str(moved.new_chat_id))
            try:
                await self.note(_at(address, address.chat_id, thread_id=""), new.chat_id)
            except EchoBotError as error:
                log.warning("telegram_move_not_noted", account=self._account, error=str(error))
            return new, await send(new)


def _at(address: Address, chat_id: str, thread_id: str | None = None) -> Address:
    return Address(NAME, chat_id, address.thread_id if thread_id is None else thread_id, address.account)
