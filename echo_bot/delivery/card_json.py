"""Cards as JSON for the transcript, and back."""

from __future__ import annotations

from datetime import datetime

from pydantic import TypeAdapter

from echo_bot.events import Address, Card
from echo_bot.storage.records import TranscriptRow

_CARD = TypeAdapter(Card)
CARD_PREFIX = "card:"
"""What the entry id of a card begins with; its id follows."""


def card_to_json(card: Card) -> str:
    return _CARD.dump_json(card).decode()


def transcript_row(address: Address, card: Card, at: datetime) -> TranscriptRow:
    """The card's one row in a chat, whatever state it is in."""
    return TranscriptRow(
        entry_id=f"{CARD_PREFIX}{card.card_id}",
        address=address,
        role="card",
        text=card.fallback or card.title,
        at=at,
        card_json=card_to_json(card),
    )


def card_from_json(text: str) -> Card:
    """Raises ValueError when the text is not a card."""
    return _CARD.validate_json(text)
