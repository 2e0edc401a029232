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
        self._held_until: dict[_Chat, float] = {}

    def take(self, address: Address, interval_seconds: float) -> float:
        """0 when it is this caller's turn now, which keeps the others waiting; else the seconds to wait."""
        chat, now = _chat(address), self._now()
        left = self._free_at.get(chat, now) - now
        if left > 0:
            return left
        self._set(self._free_at, chat, now + interval_seconds)
        return 0.0

    def hold(self, address: Address, seconds: float) -> None:
        """The platform asked to wait this long."""
        chat = _chat(address)
        until = max(self._held_until.get(chat, 0.0), self._now() + seconds)
        self._set(self._held_until, chat, until)
        self._set(self._free_at, chat, max(self._free_at.get(chat, 0.0), until))

    def held(self, address: Address) -> float:
        """Seconds that are left of what the platform asked for; 0 when nothing is."""
        return max(self._held_until.get(_chat(address), 0.0) - self._now(), 0.0)

    def _set(self, times: dict[_Chat, float], chat: _Chat, at: float) -> None:
        if len(times) >= _MOST_CHATS:
            now = self._now()
            for passed in [each for each, until in times.items() if until <= now]:
                del times[passed]
        times[chat] = at


def _chat(address: Address) -> _Chat:
    return address.channel, address.account, address.chat_id
