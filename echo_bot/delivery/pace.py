"""The pace of a chat: drafts and status lines share it, and all of them hold when the platform says so."""

from __future__ import annotations

from collections.abc import Callable

from echo_bot.events import Address

_MOST_CHATS = 1000

_Chat = tuple[str, str, str]


class Pace:
    """When a chat may be shown something that could also be left out. `now` is monotonic seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._free_at: dict[_Chat, float] = {}

    def take(self, address: Address, interval_seconds: float) -> float:
        """0 when it is this caller's turn now, which keeps the others waiting; else the seconds to wait."""
        chat, now = _chat(address), self._now()
        left = self._free_at.get(chat, now) - now
        if left > 0:
            return left
        self._set(chat, now + interval_seconds)
        return 0.0

    def hold(self, address: Address, seconds: float) -> None:
        """The platform asked to wait this long."""
        chat = _chat(address)
        self._set(chat, max(self._free_at.get(chat, 0.0), self._now() + seconds))

    def _set(self, chat: _Chat, free_at: float) -> None:
        if len(self._free_at) >= _MOST_CHATS:
            now = self._now()
            self._free_at = {each: at for each, at in self._free_at.items() if at > now}
        self._free_at[chat] = free_at


def _chat(address: Address) -> _Chat:
    return address.channel, address.account, address.chat_id
