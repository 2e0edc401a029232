"""The queue of updates: offsets confirm, unconfirmed updates come again, one poller at a time."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Collection
from dataclasses import dataclass

from echo_bot.testing.telegram.errors import ApiError
from echo_bot.testing.telegram.model import JsonObject

FIRST_UPDATE_ID = 1000
_EVERYTHING_BUT = frozenset({"chat_member", "message_reaction", "message_reaction_count"})


@dataclass(frozen=True, slots=True)
class Update:
    id: int
    kind: str
    payload: JsonObject

    @property
    def chat_key(self) -> str:
        """Webhooks get the updates of one chat and kind one after another, beside those of others."""
        message = self.payload if "chat" in self.payload else self.payload.get("message", {})
        chat = message.get("chat", {}) if isinstance(message, dict) else {}
        return f"{self.kind}:{chat.get('id', '') if isinstance(chat, dict) else ''}"

    def to_json(self) -> JsonObject:
        return {"update_id": self.id, self.kind: self.payload}


class UpdateQueue:
    """What waits for the bot. `webhook_url` set means that getUpdates is refused."""

    def __init__(self) -> None:
        self._ids = itertools.count(FIRST_UPDATE_ID)
        self._waiting: list[Update] = []
        self._poll: asyncio.Future[None] | None = None
        self.webhook_url = ""
        self.changed = asyncio.Event()
        self.confirmed_up_to = 0
        self.history: list[Update] = []
        """Every update that ever was, oldest first."""

    def put(self, kind: str, payload: JsonObject) -> Update:
        update = Update(next(self._ids), kind, payload)
        self.history.append(update)
        self.redeliver(update)
        return update

    @property
    def last(self) -> Update | None:
        return self.history[-1] if self.history else None

    def redeliver(self, update: Update) -> None:
        """Deliver an update, also one that was confirmed before: Telegram may do that."""
        self.changed.set()
        self._waiting.append(update)
        self._waiting.sort(key=lambda waiting: waiting.id)
        if self._poll is not None and not self._poll.done():
            self._poll.set_result(None)

    @property
    def unconfirmed(self) -> tuple[Update, ...]:
        return tuple(self._waiting)

    def next_by_chat(self, allowed: Collection[str]) -> list[Update]:
        """The oldest waiting update of each chat."""
        oldest: dict[str, Update] = {}
        for update in self._waiting:
            if _is_allowed(update.kind, allowed):
                oldest.setdefault(update.chat_key, update)
        return list(oldest.values())

    def confirm(self, update: Update) -> None:
        """One update was taken by a webhook."""
        self._waiting = [waiting for waiting in self._waiting if waiting is not update]

    def drop(self) -> None:
        self._waiting.clear()

    async def get(
        self, offset: int, limit: int, timeout_seconds: float, allowed: Collection[str]
    ) -> list[Update]:
        """What getUpdates answers. A newer call ends this one with a conflict, as at Telegram."""
        if self.webhook_url:
            raise ApiError.webhook_is_set()
        if self._poll is not None and not self._poll.done():
            self._poll.set_exception(ApiError.other_poller())
        self._confirm(offset)
        ready = self._ready(limit, allowed)
        if ready or timeout_seconds <= 0:
            return ready
        self._poll = poll = asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait_for(poll, timeout_seconds)
        except TimeoutError:
            return []
        finally:
            if self._poll is poll:
                self._poll = None
        return self._ready(limit, allowed)

    def _confirm(self, offset: int) -> None:
        if offset < 0:
            self._waiting = self._waiting[offset:]
        elif offset > 0:
            self._waiting = [update for update in self._waiting if update.id >= offset]
            self.confirmed_up_to = max(self.confirmed_up_to, offset - 1)

    def _ready(self, limit: int, allowed: Collection[str]) -> list[Update]:
        wanted = [update for update in self._waiting if _is_allowed(update.kind, allowed)]
        return wanted[: max(1, min(limit, 100))]


def _is_allowed(kind: str, allowed: Collection[str]) -> bool:
    return kind in allowed if allowed else kind not in _EVERYTHING_BUT
