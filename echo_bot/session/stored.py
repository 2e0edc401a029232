"""Inbound events as JSON in the store, and back."""

from __future__ import annotations

from pydantic import TypeAdapter

from echo_bot.events import InboundEvent

_EVENT = TypeAdapter(InboundEvent)


def event_to_json(event: InboundEvent) -> str:
    return _EVENT.dump_json(event).decode()


def event_from_json(text: str) -> InboundEvent:
    """Raises ValueError when the text is not an event."""
    return _EVENT.validate_json(text)
