"""Cards as JSON for the transcript, and back."""

from __future__ import annotations

from pydantic import TypeAdapter

from echo_bot.events import Card

_CARD = TypeAdapter(Card)


def card_to_json(card: Card) -> str:
    return _CARD.dump_json(card).decode()


def card_from_json(text: str) -> Card:
    """Raises ValueError when the text is not a card."""
    return _CARD.validate_json(text)
