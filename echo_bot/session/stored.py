"""Inbound events as JSON in the store, and back."""

from __future__ import annotations

from dataclasses import replace

from pydantic import TypeAdapter

from echo_bot.events import InboundEvent
from echo_bot.text import encodable

_EVENT = TypeAdapter(InboundEvent)


def event_to_json(event: InboundEvent) -> str:
    return _EVENT.dump_json(event).decode()


def event_from_json(text: str) -> InboundEvent:
    """Raises ValueError when the text is not an event."""
    return _EVENT.validate_json(text)


def storable(event: InboundEvent) -> InboundEvent:
    """The event with half characters replaced in everything that people wrote; ids are left as they came."""
    content = tuple(
        replace(block, text=encodable(block.text), name=encodable(block.name), mime=encodable(block.mime))
        for block in event.content
    )
    return replace(
        event,
        content=content,
        sender_name=encodable(event.sender_name),
        reply_to_text=encodable(event.reply_to_text),
        metadata={encodable(name): encodable(value) for name, value in event.metadata.items()},
    )
