"""An answer that cannot be delivered in its group: whoever asked is told in their direct chat."""

from __future__ import annotations

from echo_bot.approval.routing import direct_chat
from echo_bot.delivery import Delivery
from echo_bot.events import TurnId
from echo_bot.session.stored import event_from_json
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import OutboxRow
from echo_bot.text.language import N_, _

_UNDELIVERED = N_(
    "The answer to “{asked}” could not be delivered in the chat where you asked: {why}. Ask again here, or "
    "there once that is mended."
)
_MOST_QUOTED = 60


class Undelivered:
    """Tells of the answers to people's messages, once a turn; jobs and workers have nobody who waits."""

    def __init__(self, store: Store, delivery: Delivery) -> None:
        self._store, self._delivery = store, delivery

    async def tell(self, row: OutboxRow) -> None:
        """`row` was given up. Raises StorageError."""
        turn_id, _colon, part = row.source.rpartition(":")
        turn = await self._store.turns.get(TurnId(turn_id)) if part == "reply" else None
        if turn is None or turn.kind != "message":
            return
        event = event_from_json(turn.event_json)
        address = direct_chat(event.sender)
        if not event.is_group or event.from_bot or event.unattended or address == row.address:
            return
        text = _(_UNDELIVERED).format(asked=_beginning(event.text), why=row.error.rstrip("."))
        await self._delivery.send(address, text, source=f"{turn_id}:undelivered", markdown=False, is_own=True)


def _beginning(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _MOST_QUOTED else f"{words[:_MOST_QUOTED]}…"
