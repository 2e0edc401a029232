"""Chats that got a new id, as they are known now: whatever still names the old one means the new one."""

from __future__ import annotations

from dataclasses import replace

from echo_bot.events import Address
from echo_bot.storage.protocol import Store


class MovedChats:
    """The stored map in memory. `load` it before anything is sent."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._moved: dict[tuple[str, str, str], str] = {}

    async def load(self) -> None:
        self._moved = {_chat(old): new_id for old, new_id in await self._store.moves.list()}

    def now(self, address: Address) -> Address:
        """The address under the chat's present id; chats that never moved stay as they are."""
        for _ in range(len(self._moved)):
            new_id = self._moved.get(_chat(address))
            if new_id is None:
                break
            address = replace(address, chat_id=new_id)
        return address

    def all_of(self, address: Address) -> tuple[Address, ...]:
        """The address, then the same place under each id the chat had before."""
        present = self.now(address)
        earlier = (
            replace(address, chat_id=old_id)
            for channel, account, old_id in self._moved
            if (channel, account) == (address.channel, address.account)
        )
        return (address, *(each for each in earlier if each != address and self.now(each) == present))


def _chat(address: Address) -> tuple[str, str, str]:
    return address.channel, address.account, address.chat_id
